// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import java.util.List;

/** Resources of the started engine {@code backend}: native tensors, those kept for requests to come included. */
public record EngineStatistics(String backend, long liveValues) {
    private static final Measure<EngineStatistics> LIVE_VALUES = Measure.gauge(
            "gatun_backend_live_values",
            "Native tensors that a backend holds now, those it keeps for requests to come included",
            EngineStatistics::liveValues);

    /** Gives {@code sink} the resources of {@code engines}. */
    public static void publish(List<EngineStatistics> engines, MetricSink sink) {
        sink.add(LIVE_VALUES, MetricRows.of(engines, engine -> Labels.of("backend", engine.backend())));
    }
}
