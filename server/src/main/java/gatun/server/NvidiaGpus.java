// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.bindings.Nvml;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;

/** NVIDIA's GPUs of this machine, as the driver reports them; unknown values are left out. Thread-safe. */
final class NvidiaGpus implements MetricSource {
    private static final double MILLIJOULES = 1000;

    private static final List<Reading> READINGS = List.of(
            gauge("nv_gpu_utilization", "GPU utilization rate [0.0 - 1.0)", use -> use.gpu.device.utilization()),
            gauge("nv_gpu_memory_total_bytes", "GPU total memory, in bytes", use -> use.bytes(Nvml.Memory::totalBytes)),
            gauge("nv_gpu_memory_used_bytes", "GPU used memory, in bytes", use -> use.bytes(Nvml.Memory::usedBytes)),
            gauge("nv_gpu_power_usage", "GPU power usage in watts", use -> use.gpu.device.powerWatts()),
            gauge("nv_gpu_power_limit", "GPU power management limit in watts", use -> use.gpu.device.powerLimitWatts()),
            new Reading(
                    MetricFamily.counter(
                            "nv_energy_consumption", "GPU energy consumption in joules since the server was started"),
                    use -> use.gpu.energyJoules()));

    private final List<Gpu> gpus = new ArrayList<>();

    private record Reading(MetricFamily family, Function<Use, OptionalDouble> value) {}

    /** A GPU. {@code energyBefore} is the energy that it had used before the server was started. */
    private record Gpu(String uuid, Nvml.Device device, OptionalLong energyBefore) {
        OptionalDouble energyJoules() {
            OptionalLong now = device.energyMillijoules();
            return now.isPresent() && energyBefore.isPresent()
                    ? OptionalDouble.of((now.getAsLong() - energyBefore.getAsLong()) / MILLIJOULES)
                    : OptionalDouble.empty();
        }
    }

    /** A GPU during one reading of all families. */
    private record Use(Gpu gpu, Optional<Nvml.Memory> memory) {
        OptionalDouble bytes(Function<Nvml.Memory, Long> part) {
            return memory.isPresent() ? OptionalDouble.of((double) part.apply(memory.get())) : OptionalDouble.empty();
        }
    }

    NvidiaGpus() {
        for (int i = 0; i < Nvml.deviceCount(); i++) {
            Nvml.device(i).ifPresent(device -> device.uuid()
                    .ifPresent(uuid -> gpus.add(new Gpu(uuid, device, device.energyMillijoules()))));
        }
    }

    private static Reading gauge(String name, String help, Function<Use, OptionalDouble> value) {
        return new Reading(MetricFamily.gauge(name, help), value);
    }

    @Override
    public void publish(MetricSink sink) {
        List<Use> uses =
                gpus.stream().map(gpu -> new Use(gpu, gpu.device().memory())).toList();
        MetricRows<Use> rows = MetricRows.of(uses, use -> Labels.of("gpu_uuid", use.gpu.uuid));
        for (Reading reading : READINGS) {
            sink.begin(reading.family());
            for (MetricRows.Row<Use> row : rows) {
                reading.value().apply(row.subject()).ifPresent(value -> sink.value(row.labels(), value));
            }
        }
    }
}
