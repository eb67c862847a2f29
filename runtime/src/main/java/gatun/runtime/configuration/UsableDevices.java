// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.spi.Backend;
import gatun.spi.Device;
import java.util.List;
import java.util.function.Supplier;

/** The devices for a model's {@code backend}, which is started only where there are GPUs, and throws if it cannot. */
record UsableDevices(List<Integer> gpus, Supplier<Backend> backend) {
    static UsableDevices of(Supplier<Backend> backend) {
        return new UsableDevices(presentGpus(), backend);
    }

    /** The numbers of this machine's GPUs, ascending. */
    static List<Integer> presentGpus() {
        return CudaDevices.find().all().stream().map(CudaDevice::ordinal).toList();
    }

    /** Whether the backend runs on GPUs and all of {@code wanted} are there; any one where none is named. */
    boolean hasGpus(List<Integer> wanted) {
        return !gpus.isEmpty() && gpus.containsAll(wanted) && backend.get().runsOn(Device.Kind.GPU);
    }

    List<Integer> allGpus() {
        return gpus;
    }

    /** Whether the backend runs there; true without GPUs, where it is not asked and says so itself. */
    boolean runsOn(Device.Kind kind) {
        return gpus.isEmpty() || backend.get().runsOn(kind);
    }
}
