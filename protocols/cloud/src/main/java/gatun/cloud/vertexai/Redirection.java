// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.vertexai;

import io.helidon.http.Method;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The paths that a prediction may be redirected to: those that read, and inference. */
final class Redirection {
    /** The path of the metrics page. */
    static final String METRICS = "/metrics";

    private static final String MODEL = "/v2/models/[^/]+(?:/versions/[0-9]+)?";

    private static final List<Target> TARGETS = List.of(
            new Target("/metrics|/v2|/v2/health/(?:live|ready)|/v2/models/stats", Method.GET),
            new Target(MODEL + "/infer", Method.POST),
            new Target(MODEL + "(?:/ready|/config|/stats)?", Method.GET),
            new Target("/v2/(?:system|cuda)sharedmemory(?:/region/[^/]+)?/status", Method.GET),
            new Target("/v2/repository(?:/[^/]+)?/index", Method.POST));

    private static final Pattern FORBIDDEN =
            Pattern.compile("/v2/(?:(?:system|cuda)sharedmemory(?:/region/[^/]+)?/(?:register|unregister)"
                    + "|repository(?:/[^/]+)?/models/[^/]+/(?:load|unload))");

    private Redirection() {}

    private record Target(Pattern path, Method method) {
        private Target(String path, Method method) {
            this(Pattern.compile(path), method);
        }
    }

    /** The method with which a path is asked; null where redirection there is unknown. */
    @Nullable
    static Method method(String path) {
        for (Target target : TARGETS) {
            if (target.path.matcher(path).matches()) {
                return target.method;
            }
        }
        return null;
    }

    /** Whether a path is one that changes the server, which Vertex AI's clients may not. */
    static boolean isForbidden(String path) {
        return FORBIDDEN.matcher(path).matches();
    }
}
