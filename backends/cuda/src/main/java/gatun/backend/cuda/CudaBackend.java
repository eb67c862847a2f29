// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.KernelLaunch.LaunchLimits;
import gatun.backend.cuda.ModelPlan.Argument;
import gatun.backend.cuda.ModelPlan.KernelPlan;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Device;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Runs models that are kernels of CUDA (PTX, cubin or fatbin), launched as their parameters say. On GPUs only. */
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

    /** A file of kernels and the plan of their launches, which the instances share. Immutable. */
    static final class CudaModel implements BackendModel {
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
                            "model '" + name + "': there is no GPU "
                                    + spec.device().ordinal()
                                    + (devices.count() == 0
                                            ? ": " + devices.absence()
                                            : ", this machine has " + devices.count() + ", numbered from 0")));
            return CudaInstance.open(name, plan, file, device);
        }
    }

    /** Launches kernels on one GPU and its own stream, with requests' GPU memory in place. For one platform thread. */
    static final class CudaInstance implements BackendInstance {
        private final String model;
        private final Arena arena;
        private final KernelModule module;
        private final DeviceTransfers transfers;
        private final RunSizes sizes;
        private final KernelLaunch[] launches;
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
                            kernel,
                            module.function(kernel),
                            limits,
                            module.checksArguments(),
                            transfers.stream(),
                            arena))
                    .toArray(KernelLaunch[]::new);
            this.addresses = new long[plan.tensors().size()];
        }

        /** An instance on {@code device}, made the thread's own. Throws for a failed GPU, or a file not for it. */
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

        /** Brings a byte there and back, since CUDA and the JVM link functions at their first call. Runs no kernel. */
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
                String launched =
                        Arrays.stream(launches).map(KernelLaunch::described).collect(Collectors.joining(", or "));
                throw new GatunException(
                        e.code(), "model '" + model + "': kernel " + launched + ": " + e.getMessage(), e);
            }
        }

        @Override
        public void close() {
            transfers.release();
            module.close();
            arena.close();
        }

        /** An instance's kernel file on its GPU, so {@code __device__} variables are not shared. For its thread. */
        static final class KernelModule implements AutoCloseable {
            private static final int LOG_BYTES = 8 << 10;

            private final CudaDevice device;
            private final KernelFile file;
            private final String model;
            private final MemorySegment handle;
            private final Optional<PtxEntries> entries;

            private KernelModule(CudaDevice device, KernelFile file, String model, MemorySegment handle) {
                this.device = device;
                this.file = file;
                this.model = model;
                this.handle = handle;
                this.entries = file.entries();
            }

            /** Loads {@code file}, which compiles PTX for this GPU. Throws with CUDA's and its compiler's messages. */
            static KernelModule load(CudaDevice device, KernelFile file, String model) {
                try (Arena scratch = Arena.ofConfined()) {
                    // PTX is a string of C: a zero ends it.
                    MemorySegment image = scratch.allocate(file.bytes().length + 1L, Long.BYTES);
                    MemorySegment.copy(file.bytes(), 0, image, ValueLayout.JAVA_BYTE, 0, file.bytes().length);
                    MemorySegment log = scratch.allocate(LOG_BYTES);
                    MemorySegment options = scratch.allocateFrom(
                            cuda_h.C_INT,
                            cuda_h.CU_JIT_ERROR_LOG_BUFFER(),
                            cuda_h.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES());
                    MemorySegment values = scratch.allocate(cuda_h.C_POINTER, 2);
                    values.setAtIndex(cuda_h.C_POINTER, 0, log);
                    // The value itself, in the place of a pointer; the last byte stays 0.
                    values.setAtIndex(ValueLayout.JAVA_LONG, 1, LOG_BYTES - 1L);
                    MemorySegment out = scratch.allocate(cuda_h.C_POINTER);
                    int result = cuda_h.cuModuleLoadDataEx(out, image, 2, options, values);
                    if (result != cuda_h.CUDA_SUCCESS()) {
                        String said = log.getString(0).strip().replaceAll("\\s*\\R\\s*", "; ");
                        device.check(
                                result,
                                "model '" + model + "': cannot load " + file.name()
                                        + (said.isEmpty() ? "" : " (" + said + ")"));
                    }
                    return new KernelModule(device, file, model, out.get(cuda_h.C_POINTER, 0));
                }
            }

            /** The function, valid until this is closed. Throws INVALID_ARGUMENT for none, or other parameters. */
            MemorySegment function(KernelPlan kernel) {
                try (Arena scratch = Arena.ofConfined()) {
                    MemorySegment out = scratch.allocate(cuda_h.C_POINTER);
                    int result = cuda_h.cuModuleGetFunction(out, handle, scratch.allocateFrom(kernel.function()));
                    if (result == cuda_h.CUDA_ERROR_NOT_FOUND()) {
                        List<String> present = entries.map(PtxEntries::names).orElse(List.of());
                        throw GatunException.invalidArgument("model '" + model + "': kernel '" + kernel.name() + "': "
                                + file.name() + " has no function '" + kernel.function() + "'"
                                + (present.isEmpty() ? "" : ", expected one of " + String.join(", ", present))
                                + "; functions of C++ have longer names there, unless they are extern \"C\"");
                    }
                    device.check(result, "cuModuleGetFunction '" + kernel.function() + "'");
                    entries.ifPresent(known -> checkArguments(kernel, known.parameterByteSizes(kernel.function())));
                    return out.get(cuda_h.C_POINTER, 0);
                }
            }

            /** CUDA takes as many values as the function has parameters, of their sizes, wherever they come from. */
            private void checkArguments(KernelPlan kernel, List<Integer> byteSizes) {
                List<Argument> arguments = kernel.arguments();
                if (arguments.size() != byteSizes.size()) {
                    throw refused(
                            kernel,
                            "found " + arguments.size() + " arguments, expected " + byteSizes.size()
                                    + ", as many as the parameters");
                }
                for (int i = 0; i < arguments.size(); i++) {
                    if (arguments.get(i).byteSize() != byteSizes.get(i)) {
                        throw refused(
                                kernel,
                                "argument " + (i + 1) + " has "
                                        + arguments.get(i).byteSize() + " bytes, expected " + byteSizes.get(i)
                                        + ", as many as the parameter");
                    }
                }
            }

            private GatunException refused(KernelPlan kernel, String reason) {
                return new ConfigurationException(
                        ConfigurationPath.ofParameter(kernel.name() + "." + KernelReader.ARGUMENTS),
                        "model '" + model + "': parameter '" + kernel.name() + "." + KernelReader.ARGUMENTS + "': "
                                + reason + " of function '" + kernel.function() + "' in " + file.name());
            }

            /** Whether the function's parameters were compared with its arguments, so that CUDA reads no further. */
            boolean checksArguments() {
                return entries.isPresent();
            }

            /** Gives it up, when no kernel of it runs any more. */
            @Override
            public void close() {
                // Fails with a device that failed, which has nothing to give back.
                cuda_h.cuModuleUnload(handle);
            }
        }
    }
}
