// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.GatunException;
import gatun.server.settings.ServerSettings.DevicePoolLimit;
import gatun.server.settings.StartException;
import gatun.spi.Setting;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes this machine's GPUs ready for use, and reports them to the operator; reports once that there are none. */
final class Gpus {
    private static final Logger LOG = LoggerFactory.getLogger(Gpus.class);
    private static final long MIB = 1 << 20;

    private Gpus() {}

    /** Limits the memory taken of each GPU, and locks {@code buffers} for copies. Throws {@link StartException}. */
    static void prepare(CudaDevices gpus, List<DevicePoolLimit> limits, BufferPool buffers) {
        for (DevicePoolLimit limit : limits) {
            CudaDevice gpu = gpus.device(limit.gpu()).orElseThrow(() -> new StartException(refusal(limit, gpus)));
            gpu.pool().limit(limit.byteSize());
        }
        if (gpus.count() == 0) {
            LOG.info("{}: models run on the processor", gpus.absence());
            return;
        }
        for (CudaDevice gpu : gpus.all()) {
            gpu.pool().nameLimit(Setting.CUDA_MEMORY_POOL_BYTE_SIZE.with(gpu.ordinal() + ":<bytes>"));
            LOG.info(
                    "{}: {} MiB, of which the server takes at most {} MiB",
                    gpu,
                    gpu.totalBytes() / MIB,
                    gpu.pool().byteLimit() / MIB);
        }
        try {
            buffers.lockFor(gpus.all().getFirst());
        } catch (GatunException e) {
            LOG.warn("Copies to GPUs will be slow, because the buffer pool cannot be locked: {}", e.getMessage());
        }
    }

    private static String refusal(DevicePoolLimit limit, CudaDevices gpus) {
        String present = gpus.count() == 0
                ? gpus.absence()
                : "there " + (gpus.count() == 1 ? "is only GPU 0" : "are only GPUs 0 to " + (gpus.count() - 1));
        return "--cuda-memory-pool-byte-size=" + limit.gpu() + ":" + limit.byteSize() + " is for GPU " + limit.gpu()
                + ", but " + present;
    }
}
