// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.memory.cuda.CudaDevice;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The families of the GPU memory that the server has taken; none on a machine without GPUs. */
final class DevicePoolFamilies {
    private record Family(String name, String help, ToDoubleFunction<CudaDevice> value) {}

    private static final List<Family> GAUGES = List.of(
            new Family("gatun_gpu_pool_total_bytes", "Limit of the pool of a GPU's memory, in bytes", gpu -> gpu.pool()
                    .byteLimit()),
            new Family(
                    "gatun_gpu_pool_used_bytes", "Bytes of a GPU's memory that requests occupy now", gpu -> gpu.pool()
                            .lentBytes()),
            new Family(
                    "gatun_gpu_failed",
                    "1 for a GPU that has failed and is out of use, 0 for any other",
                    gpu -> gpu.failure().isPresent() ? 1 : 0));

    private DevicePoolFamilies() {}

    /** The gauges about {@code gpus}, labelled with their numbers. */
    static List<MetricSnapshot> of(List<CudaDevice> gpus) {
        if (gpus.isEmpty()) {
            return List.of();
        }
        List<MetricSnapshot> families = new ArrayList<>();
        for (Family family : GAUGES) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(family.name()).help(family.help());
            for (CudaDevice gpu : gpus) {
                gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(Labels.of("gpu", Integer.toString(gpu.ordinal())))
                        .value(family.value().applyAsDouble(gpu))
                        .build());
            }
            families.add(gauge.build());
        }
        return families;
    }
}
