// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.RepositoryModel;
import gatun.server.text.SafeText;
import gatun.wire.inference.ModelStatistics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Asks a server for its models, what it counts of them, and its metrics. For one thread. */
public final class ServerPoll {
    private static final int NAME_LIMIT = 256;
    private static final int REASON_LIMIT = 1024;

    private final GatunClient client;
    private final @Nullable MetricsReader metrics;

    /** @param metrics null where metrics are not to be read */
    ServerPoll(GatunClient client, @Nullable MetricsReader metrics) {
        this.client = client;
        this.metrics = metrics;
    }

    /**
     * What the server tells now.
     *
     * @throws ClientException when it does not list its models
     */
    Sample sample() {
        List<RepositoryModel> index = client.models().index(false);
        Map<Sample.Key, ModelCounts> counts = counts();
        long now = System.nanoTime();
        List<Sample.Model> models = new ArrayList<>();
        for (RepositoryModel model : index.subList(0, Math.min(index.size(), Sample.MODEL_LIMIT))) {
            models.add(new Sample.Model(
                    key(model.name(), model.version()),
                    model.state().isEmpty()
                            ? "not loaded"
                            : SafeText.of(model.state(), NAME_LIMIT).toLowerCase(Locale.ROOT),
                    SafeText.of(model.reason(), REASON_LIMIT)));
        }
        ServerMetrics told = metrics == null ? ServerMetrics.NONE : metrics.read();
        return new Sample(now, models, counts, told, index.size() - models.size());
    }

    private Map<Sample.Key, ModelCounts> counts() {
        Map<Sample.Key, ModelCounts> counts = new HashMap<>();
        try {
            for (ModelStatistics model : client.models().statistics("", "")) {
                if (counts.size() == Sample.MODEL_LIMIT) {
                    break;
                }
                counts.put(key(model.getName(), model.getVersion()), ModelCounts.of(model));
            }
        } catch (ClientException e) {
            return Map.of(); // Not every server of the protocol counts.
        }
        return counts;
    }

    private static Sample.Key key(String model, String version) {
        return new Sample.Key(SafeText.of(model, NAME_LIMIT), SafeText.of(version, NAME_LIMIT));
    }
}
