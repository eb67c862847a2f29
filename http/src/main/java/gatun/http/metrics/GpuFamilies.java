// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The families of GPUs; each is on the page only when a GPU reports its value. */
final class GpuFamilies {
    private static final String LABEL = "gpu_uuid";

    private record Family(String name, String help, Function<GpuUse, OptionalDouble> value) {}

    private static final List<Family> GAUGES = List.of(
            new Family("nv_gpu_utilization", "GPU utilization rate [0.0 - 1.0)", GpuUse::utilization),
            new Family("nv_gpu_memory_total_bytes", "GPU total memory, in bytes", GpuUse::memoryBytes),
            new Family("nv_gpu_memory_used_bytes", "GPU used memory, in bytes", GpuUse::usedBytes),
            new Family("nv_gpu_power_usage", "GPU power usage in watts", GpuUse::powerWatts),
            new Family("nv_gpu_power_limit", "GPU power management limit in watts", GpuUse::powerLimitWatts));

    private GpuFamilies() {}

    /** The gauges about {@code gpus}. */
    static List<MetricSnapshot> gauges(List<GpuUse> gpus) {
        List<MetricSnapshot> families = new ArrayList<>();
        for (Family family : GAUGES) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(family.name()).help(family.help());
            List<MetricsPage.Point> points = points(gpus, family.value());
            for (MetricsPage.Point point : points) {
                gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(point.labels())
                        .value(point.value())
                        .build());
            }
            if (!points.isEmpty()) {
                families.add(gauge.build());
            }
        }
        return families;
    }

    /** The energy that {@code gpus} have used. */
    static List<MetricsPage.Point> energy(List<GpuUse> gpus) {
        return points(gpus, GpuUse::energyJoules);
    }

    private static List<MetricsPage.Point> points(List<GpuUse> gpus, Function<GpuUse, OptionalDouble> value) {
        List<MetricsPage.Point> points = new ArrayList<>();
        for (GpuUse gpu : gpus) {
            value.apply(gpu)
                    .ifPresent(number -> points.add(new MetricsPage.Point(Labels.of(LABEL, gpu.uuid()), number)));
        }
        return points;
    }
}
