// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.bindings.Cuda;
import gatun.bindings.NativeLibrary;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The GPUs of this machine; none without CUDA's driver, as on most machines. Immutable. */
public final class CudaDevices implements MetricSource {
    private static final List<Measure<CudaDevice>> MEASURES = List.of(
            Measure.gauge(
                    "gatun_gpu_pool_total_bytes", "Limit of the pool of a GPU's memory, in bytes", gpu -> gpu.pool()
                            .byteLimit()),
            Measure.gauge(
                    "gatun_gpu_pool_used_bytes", "Bytes of a GPU's memory that requests occupy now", gpu -> gpu.pool()
                            .lentBytes()),
            Measure.gauge(
                    "gatun_gpu_failed",
                    "1 for a GPU that has failed and is out of use, 0 for any other",
                    gpu -> gpu.failure().isPresent() ? 1 : 0));

    private final List<CudaDevice> devices;
    private final String absence;

    private CudaDevices(List<CudaDevice> devices, String absence) {
        this.devices = List.copyOf(devices);
        this.absence = absence;
    }

    /** The GPUs that there are; the same object each time. The first call takes up to a second where there is a GPU. */
    public static CudaDevices find() {
        return Holder.FOUND;
    }

    /** The GPU of that number, as CUDA counts them; empty when there is none. */
    public Optional<CudaDevice> device(int ordinal) {
        return ordinal >= 0 && ordinal < devices.size() ? Optional.of(devices.get(ordinal)) : Optional.empty();
    }

    /** All of them, in the order of their numbers. */
    public List<CudaDevice> all() {
        return devices;
    }

    /** How many there are. */
    public int count() {
        return devices.size();
    }

    /** Gives {@code sink} the memory that the server has taken of each; nothing on a machine without GPUs. */
    @Override
    public void publish(MetricSink sink) {
        sink.addAll(MEASURES, MetricRows.of(devices, gpu -> Labels.of("gpu", Integer.toString(gpu.ordinal()))));
    }

    /** Why there are none, for the operator; empty when there are some. */
    public String absence() {
        return absence;
    }

    private static final class Holder {
        static final CudaDevices FOUND = look();

        private static CudaDevices look() {
            if (Cuda.driver() instanceof NativeLibrary.Missing missing) {
                return new CudaDevices(List.of(), missing.toString());
            }
            try (Arena scratch = Arena.ofConfined()) {
                MemorySegment count = scratch.allocate(cuda_h.C_INT);
                int result = cuda_h.cuDeviceGetCount(count);
                if (result != cuda_h.CUDA_SUCCESS()) {
                    return new CudaDevices(List.of(), "CUDA not available: " + Cuda.errorText(result));
                }
                List<CudaDevice> found = new ArrayList<>();
                for (int i = 0; i < count.get(cuda_h.C_INT, 0); i++) {
                    found.add(CudaDevice.open(i));
                }
                return new CudaDevices(found, found.isEmpty() ? "CUDA not available: it finds no GPU" : "");
            }
        }
    }
}
