// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.runtime.ModelMemoryUse;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The families of the memory that models take, where it has a limit. */
final class ModelMemoryFamilies {
    private record Family(String name, String help, ToDoubleFunction<ModelMemoryUse> value) {}

    private static final List<Family> GAUGES = List.of(
            new Family(
                    "gatun_model_memory_limit_bytes",
                    "The most bytes that models may take together",
                    ModelMemoryUse::byteSize),
            new Family(
                    "gatun_model_memory_used_bytes",
                    "Bytes that the models in memory take, counted by their files",
                    ModelMemoryUse::usedByteSize),
            new Family("gatun_models_in_memory", "Number of model versions in memory", ModelMemoryUse::modelCount));

    private ModelMemoryFamilies() {}

    /** The gauges about {@code use}. */
    static List<MetricSnapshot> gauges(ModelMemoryUse use) {
        List<MetricSnapshot> families = new ArrayList<>();
        for (Family family : GAUGES) {
            families.add(GaugeSnapshot.builder()
                    .name(family.name())
                    .help(family.help())
                    .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                            .value(family.value().applyAsDouble(use))
                            .build())
                    .build());
        }
        return families;
    }
}
