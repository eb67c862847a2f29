// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.Map;

/**
 * Runs models that are kernels of CUDA: a file of PTX, a cubin or a fatbin, and parameters that tell which functions of
 * it are launched, in which sizes and with which arguments. Runs on GPUs only.
 */
public final class CudaBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public CudaBackend() {}

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public boolean runsOn(Device.Kind kind) {
        return kind == Device.Kind.GPU;
    }

    @Override
    public void start(Map<String, String> options) {
        CudaDevices devices = CudaDevices.find();
        if (devices.count() == 0) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the cuda backend runs kernels on NVIDIA GPUs, and this server has none: " + devices.absence());
        }
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        ModelPlan plan = ModelPlanReader.read(config);
        return new CudaModel(config.getName(), plan, KernelFile.read(config, versionDirectory));
    }
}
