// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.bindings.Nvml;
import gatun.http.metrics.GpuUse;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * The GPUs of this machine, as NVIDIA's driver reports them at each call; none where there is no driver. Safe for any
 * thread.
 */
final class NvidiaGpus implements Supplier<List<GpuUse>> {
    private static final double MILLIJOULES = 1000;

    private final List<Gpu> gpus = new ArrayList<>();

    /**
     * A GPU.
     *
     * @param energyBefore the energy that it had used before the server was started
     */
    private record Gpu(String uuid, Nvml.Device device, OptionalLong energyBefore) {
        GpuUse use() {
            return new GpuUse(
                    uuid,
                    device.utilization(),
                    device.memory()
                            .map(memory -> OptionalDouble.of((double) memory.totalBytes()))
                            .orElse(OptionalDouble.empty()),
                    device.memory()
                            .map(memory -> OptionalDouble.of((double) memory.usedBytes()))
                            .orElse(OptionalDouble.empty()),
                    device.powerWatts(),
                    device.powerLimitWatts(),
                    energyJoules());
        }

        private OptionalDouble energyJoules() {
            OptionalLong now = device.energyMillijoules();
            return now.isPresent() && energyBefore.isPresent()
                    ? OptionalDouble.of((now.getAsLong() - energyBefore.getAsLong()) / MILLIJOULES)
                    : OptionalDouble.empty();
        }
    }

    /** The GPUs that are there now. */
    NvidiaGpus() {
        for (int i = 0; i < Nvml.deviceCount(); i++) {
            Nvml.device(i).ifPresent(device -> device.uuid()
                    .ifPresent(uuid -> gpus.add(new Gpu(uuid, device, device.energyMillijoules()))));
        }
    }

    @Override
    public List<GpuUse> get() {
        return gpus.stream().map(Gpu::use).toList();
    }
}
