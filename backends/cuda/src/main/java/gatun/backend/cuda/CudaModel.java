// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;

/** A file of kernels and the plan of their launches, which the instances share. Immutable. */
final class CudaModel implements BackendModel {
    private final String name;
    private final ModelPlan plan;
    private final KernelFile file;

    CudaModel(String name, ModelPlan plan, KernelFile file) {
        this.name = name;
        this.plan = plan;
        this.file = file;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        if (spec.device().kind() != Device.Kind.GPU) {
            throw new ConfigurationException(
                    ConfigurationPath.of("instance_group"),
                    "model '" + name
                            + "': kernels of CUDA run on a GPU only, expected instance_group [ { kind: KIND_GPU } ]");
        }
        CudaDevices devices = CudaDevices.find();
        CudaDevice device = devices.device(spec.device().ordinal())
                .orElseThrow(() -> new GatunException(
                        ErrorCode.UNAVAILABLE,
                        "model '" + name + "': there is no GPU " + spec.device().ordinal()
                                + (devices.count() == 0
                                        ? ": " + devices.absence()
                                        : ", this machine has " + devices.count() + ", numbered from 0")));
        return CudaInstance.open(name, plan, file, device);
    }
}
