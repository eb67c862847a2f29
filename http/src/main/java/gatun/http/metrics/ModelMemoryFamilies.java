// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.runtime.ModelMemoryUse;
import java.util.List;

/** The families of the memory that models take, where it has a limit. */
final class ModelMemoryFamilies {
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

    private ModelMemoryFamilies() {}

    static void write(ModelMemoryUse use, PageWriter page) {
        page.addAll(MEASURES, Rows.single(use));
    }
}
