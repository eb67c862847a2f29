// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.vertexai;

import gatun.cloud.BinaryContentType;
import gatun.cloud.RewrittenRequests;
import gatun.http.connection.Exchange;
import gatun.http.connection.Routes;
import gatun.http.routes.PathValues.RouteConventions.BareConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.protocol.ClientRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.server.InferenceServer;
import gatun.v2.http.V2Operations;
import gatun.v2.http.V2Routes;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Vertex AI's container endpoint: predictions of the default model, health, and redirects by a header. */
public final class VertexAiProtocol implements Protocol {
    private static final BinaryContentType BINARY =
            new BinaryContentType("application/vnd.vertex-ai-triton.binary+json;json-header-size=");
    private static final String REDIRECT = "X-Vertex-Ai-Triton-Redirect";

    private final RouteTable table;
    private final RewrittenRequests requests;
    private final Routes metrics;
    private final InferenceServer server;
    private final VertexAiSettings settings;

    /** The path of predictions; set before requests come. */
    private volatile String inference = "";

    /** The endpoint of {@code server}, whose models may still be loading; {@code metrics} answers for the metrics. */
    public VertexAiProtocol(
            InferenceServer server, ProtocolSettings common, VertexAiSettings settings, Routes metrics) {
        this.server = server;
        this.settings = settings;
        this.metrics = metrics;
        RouteTable v2 = V2Routes.to(
                server,
                common.withHeaders(new HeaderRules(common.http().access(), HeaderForwarding.none()), common.grpc()),
                new ClientRegions(server.regions(), common.clientMemory()));
        this.requests = new RewrittenRequests(v2, BINARY);
        this.table = new RouteTable(
                "/",
                List.of(
                        Route.get(
                                settings.healthRoute(),
                                ApiGroup.HEALTH,
                                "Whether the server is ready",
                                V2Operations.READY,
                                (exchange, path) -> requests.pass(exchange, exchange.method(), "/v2/health/ready")),
                        Route.post(
                                settings.predictRoute(),
                                ApiGroup.INFERENCE,
                                "Infers with the default model, or answers as the path that a header names",
                                V2Operations.inferring(BINARY.mediaType()).failing(400, 403, 404, 413, 501, 503),
                                (exchange, path) -> predict(exchange))),
                ApiAccess.open(),
                new BareConventions());
    }

    /** Chooses the model of predictions among the ready ones. Throws INVALID_ARGUMENT without a default model. */
    @Override
    public void beforeOwnPorts() {
        inference = "/v2/models/" + settings.chooseModel(server) + "/infer";
    }

    private void predict(Exchange exchange) {
        Optional<String> redirect = exchange.header(REDIRECT);
        if (redirect.isEmpty()) {
            requests.infer(exchange, inference);
            return;
        }
        String path = "/" + redirect.get();
        Method method = Redirection.method(path);
        if (method == null) {
            exchange.answerEmpty(Redirection.isForbidden(path) ? Status.FORBIDDEN_403 : Status.BAD_REQUEST_400);
        } else if (path.equals(Redirection.METRICS)) {
            exchange.rewrite(method, path, Map.of());
            metrics.answer(exchange);
        } else if (path.endsWith("/infer")) {
            requests.infer(exchange, path);
        } else {
            requests.pass(exchange, method, path);
        }
    }

    @Override
    public RouteTable table() {
        return table;
    }

    @Override
    public boolean shared() {
        return false;
    }

    /** The paths that a prediction may be redirected to: those that read, and inference. */
    static final class Redirection {
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
}
