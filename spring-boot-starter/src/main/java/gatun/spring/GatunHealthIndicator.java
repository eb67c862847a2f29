// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import gatun.client.GatunClient;
import gatun.client.RepositoryModel;
import gatun.client.ServerMetadata;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up when the server is ready; details have name, version, address and models that are not. Thread-safe. */
public final class GatunHealthIndicator extends AbstractHealthIndicator {
    private final GatunClient client;

    /** The health of the client's server. The client stays its owner's. */
    public GatunHealthIndicator(GatunClient client) {
        super("the inference server did not answer");
        this.client = client;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetail("address", client.address());
        if (!client.server().live()) {
            builder.down().withDetail("error", "the inference server does not answer");
            return;
        }
        ServerMetadata server = client.server().metadata();
        builder.withDetail("server", server.name() + ' ' + server.version());
        Map<String, String> notReady = new TreeMap<>();
        for (RepositoryModel model : client.models().index(false)) {
            if (!model.isReady() && !model.state().isEmpty()) {
                notReady.put(model.name() + (model.version().isEmpty() ? "" : "/" + model.version()), model.reason());
            }
        }
        if (!notReady.isEmpty()) {
            builder.withDetail("models", notReady);
        }
        builder.status(client.server().ready() ? "UP" : "OUT_OF_SERVICE");
    }
}
