// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where the models are: in the application, by {@code gatun.model-repository}, or on a server, by {@code gatun.url}.
 *
 * @param modelRepository the models to serve in this application: a folder, or {@code classpath:} and a folder of the
 *     application's resources
 * @param flags flags of {@code gatun serve} for the models in this application, such as {@code --http-port=8000}
 * @param url the server to ask, such as {@code http://localhost:8000}
 * @param token sent to that server with each call, as a bearer token
 * @param headers sent to that server with each call
 * @param deadline how long each call to that server may take, its retries included; none for any time
 * @param metricsInterval how often the models' statistics are read for metrics
 */
@ConfigurationProperties("gatun")
public record GatunProperties(
        @Nullable String modelRepository,
        @DefaultValue List<String> flags,
        @Nullable String url,
        @Nullable String token,
        @DefaultValue Map<String, String> headers,
        @Nullable Duration deadline,
        @DefaultValue("10s") Duration metricsInterval) {
    /**
     * Keeps copies.
     *
     * @throws IllegalArgumentException when the models are said to be in the application and elsewhere
     */
    public GatunProperties {
        if (modelRepository != null && url != null) {
            throw new IllegalArgumentException("gatun.model-repository=" + modelRepository + " and gatun.url=" + url
                    + ": expected one of the two, since they say where the models are; to serve the application's models"
                    + " to others, add --allow-http=true to gatun.flags");
        }
        flags = List.copyOf(flags);
        headers = Map.copyOf(headers);
    }
}
