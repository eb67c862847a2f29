// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The families of GPUs; each is on the page only when a GPU reports its value. */
final class GpuFamilies {
    private record Reading(Family family, Function<GpuUse, OptionalDouble> value) {}

    private static final List<Reading> READINGS = List.of(
            gauge("nv_gpu_utilization", "GPU utilization rate [0.0 - 1.0)", GpuUse::utilization),
            gauge("nv_gpu_memory_total_bytes", "GPU total memory, in bytes", GpuUse::memoryBytes),
            gauge("nv_gpu_memory_used_bytes", "GPU used memory, in bytes", GpuUse::usedBytes),
            gauge("nv_gpu_power_usage", "GPU power usage in watts", GpuUse::powerWatts),
            gauge("nv_gpu_power_limit", "GPU power management limit in watts", GpuUse::powerLimitWatts),
            new Reading(
                    Family.counter(
                            "nv_energy_consumption", "GPU energy consumption in joules since the server was started"),
                    GpuUse::energyJoules));

    private GpuFamilies() {}

    private static Reading gauge(String name, String help, Function<GpuUse, OptionalDouble> value) {
        return new Reading(Family.gauge(name, help), value);
    }

    static void write(List<GpuUse> gpus, PageWriter page) {
        Rows<GpuUse> rows = Rows.of(gpus, gpu -> Labels.of("gpu_uuid", gpu.uuid()));
        for (Reading reading : READINGS) {
            page.begin(reading.family());
            for (Rows.Row<GpuUse> row : rows) {
                reading.value().apply(row.subject()).ifPresent(value -> page.value(row.labels(), value));
            }
        }
    }
}
