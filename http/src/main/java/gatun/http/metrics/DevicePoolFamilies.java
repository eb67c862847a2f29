// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.memory.cuda.CudaDevice;
import java.util.List;

/** The families of the GPU memory that the server has taken; none on a machine without GPUs. */
final class DevicePoolFamilies {
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

    private DevicePoolFamilies() {}

    /** Writes the gauges about {@code gpus}, labelled with their numbers. */
    static void write(List<CudaDevice> gpus, PageWriter page) {
        page.addAll(MEASURES, Rows.of(gpus, gpu -> Labels.of("gpu", Integer.toString(gpu.ordinal()))));
    }
}
