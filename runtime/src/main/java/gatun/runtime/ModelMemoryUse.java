// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.util.List;

/**
 * How much of the memory for models is taken, where they are loaded by the requests that need them.
 *
 * @param byteSize the most that all may take together
 * @param usedByteSize what those in memory take, counted by their files
 * @param modelCount how many are in memory
 * @param loadCount how often one was loaded
 * @param evictionCount how often one was closed to make room for another
 */
public record ModelMemoryUse(long byteSize, long usedByteSize, int modelCount, long loadCount, long evictionCount)
        implements MetricSource {
    private static final List<Measure<ModelMemoryUse>> MEASURES = List.of(
            Measure.gauge(
                    "gatun_model_memory_limit_bytes",
                    "The most bytes that models may take together",
                    ModelMemoryUse::byteSize),
            Measure.gauge(
                    "gatun_model_memory_used_bytes",
                    "Bytes that the models in memory take, counted by their files",
                    ModelMemoryUse::usedByteSize),
            Measure.gauge("gatun_models_in_memory", "Number of model versions in memory", ModelMemoryUse::modelCount),
            Measure.counter(
                    "gatun_model_loads_on_demand",
                    "Number of times that a model was loaded because a request needed it",
                    ModelMemoryUse::loadCount),
            Measure.counter(
                    "gatun_model_evictions",
                    "Number of times that a model was closed to make room for another",
                    ModelMemoryUse::evictionCount));

    @Override
    public void publish(MetricSink sink) {
        sink.addAll(MEASURES, MetricRows.single(this));
    }
}
