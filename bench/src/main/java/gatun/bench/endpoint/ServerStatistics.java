// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.load.ServerCounters;
import gatun.bench.load.ServerTimes;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatistics;
import java.util.Optional;

/** Reads a model's counters by the v2 protocol's extension for statistics. */
final class ServerStatistics {
    private ServerStatistics() {}

    /** The counters of all versions, or of one; empty when the server does not tell. */
    static Optional<ServerCounters> read(GatunClient client, String model, String version) {
        try {
            return client.models().statistics(model, version).stream()
                    .map(ServerStatistics::counters)
                    .reduce(ServerCounters::plus);
        } catch (ClientException e) {
            return Optional.empty();
        }
    }

    private static ServerCounters counters(ModelStatistics model) {
        InferStatistics times = model.getInferenceStats();
        return new ServerCounters(
                model.getInferenceCount(),
                model.getExecutionCount(),
                times.getSuccess().getCount(),
                times.getCacheHit().getCount(),
                new ServerTimes(
                        times.getSuccess().getNs(),
                        times.getQueue().getNs(),
                        times.getComputeInput().getNs(),
                        times.getComputeInfer().getNs(),
                        times.getComputeOutput().getNs()));
    }
}
