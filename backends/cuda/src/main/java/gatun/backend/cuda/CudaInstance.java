// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Launches a model's kernels on one GPU, on a stream of its own, with the addresses of the requests' own memory where
 * that is on the GPU. Made, used and closed by one platform thread, which stays with the GPU.
 */
final class CudaInstance implements BackendInstance {
    private final String model;
    private final Arena arena;
    private final KernelModule module;
    private final DeviceTransfers transfers;
    private final RunSizes sizes;
    private final KernelLaunch[] launches;

    /** Where each tensor of the run is, by its number. */
    private final long[] addresses;

    private CudaInstance(
            String model,
            ModelPlan plan,
            Arena arena,
            KernelModule module,
            DeviceTransfers transfers,
            LaunchLimits limits) {
        this.model = model;
        this.arena = arena;
        this.module = module;
        this.transfers = transfers;
        this.sizes = new RunSizes(plan);
        this.launches = plan.kernels().stream()
                .map(kernel -> new KernelLaunch(
                        kernel, module.function(kernel), limits, module.checksArguments(), transfers.stream(), arena))
                .toArray(KernelLaunch[]::new);
        this.addresses = new long[plan.tensors().size()];
    }

    /**
     * An instance on {@code device}, which becomes the calling thread's own.
     *
     * @throws GatunException when the file or the plan is not for this GPU, or the GPU has failed
     */
    static CudaInstance open(String model, ModelPlan plan, KernelFile file, CudaDevice device) {
        device.makeCurrent();
        LaunchLimits limits = LaunchLimits.of(device);
        KernelModule module = KernelModule.load(device, file, model);
        try {
            DeviceTransfers transfers = DeviceTransfers.clearing(device);
            Arena arena = Arena.ofConfined();
            try {
                return new CudaInstance(model, plan, arena, module, transfers, limits);
            } catch (RuntimeException | Error e) {
                arena.close();
                transfers.release();
                throw e;
            }
        } catch (RuntimeException | Error e) {
            module.close();
            throw e;
        }
    }

    /**
     * Brings a byte there and back: CUDA and the JVM link functions at their first call. The kernels are left alone.
     */
    @Override
    public void warmUp() {
        TensorSpec spec = new TensorSpec("warm-up", Datatype.UINT8, Shape.of(1));
        MemorySegment bytes = arena.allocate(1);
        KernelLaunch.link();
        try (DeviceTransfers run = transfers.begin()) {
            run.bring(new Tensor(spec, bytes));
            run.deliver(bytes);
            run.awaitKernels();
            run.complete();
        }
    }

    @Override
    public void execute(Execution execution) {
        sizes.compute(execution);
        for (KernelLaunch launch : launches) {
            launch.prepare(sizes.sizes());
        }
        try (DeviceTransfers run = transfers.begin()) {
            sizes.place(execution, run, addresses);
            execution.inferStarted();
            for (KernelLaunch launch : launches) {
                launch.launch(run.stream(), addresses);
            }
            await(run);
            execution.inferEnded();
            run.complete();
        }
    }

    private void await(DeviceTransfers run) {
        try {
            run.awaitKernels();
        } catch (GatunException e) {
            List<String> launched = new ArrayList<>();
            for (KernelLaunch launch : launches) {
                launched.add(launch.described());
            }
            throw new GatunException(
                    e.code(),
                    "model '" + model + "': kernel " + String.join(", or ", launched) + ": " + e.getMessage(),
                    e);
        }
    }

    @Override
    public void close() {
        transfers.release();
        module.close();
        arena.close();
    }
}
