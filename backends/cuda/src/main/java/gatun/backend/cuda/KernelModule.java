// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.tensor.GatunException;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * A file of kernels, loaded into a GPU. Each instance has one of its own, so that runs at the same time do not share
 * {@code __device__} variables. Used by the instance's thread, whose current device is this one.
 */
final class KernelModule implements AutoCloseable {
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

    /**
     * Loads {@code file}, which compiles PTX for this GPU.
     *
     * @throws GatunException with CUDA's reason, and its compiler's messages
     */
    static KernelModule load(CudaDevice device, KernelFile file, String model) {
        try (Arena scratch = Arena.ofConfined()) {
            // PTX is a string of C: a zero ends it.
            MemorySegment image = scratch.allocate(file.bytes().length + 1L, Long.BYTES);
            MemorySegment.copy(file.bytes(), 0, image, ValueLayout.JAVA_BYTE, 0, file.bytes().length);
            MemorySegment log = scratch.allocate(LOG_BYTES);
            MemorySegment options = scratch.allocateFrom(
                    cuda_h.C_INT, cuda_h.CU_JIT_ERROR_LOG_BUFFER(), cuda_h.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES());
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

    /**
     * The function of that name, valid until this is closed.
     *
     * @throws GatunException INVALID_ARGUMENT when there is none, with those that there are where the file tells, or
     *     when its parameters are not those that the kernel gets
     */
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
                        "argument " + (i + 1) + " has " + arguments.get(i).byteSize() + " bytes, expected "
                                + byteSizes.get(i) + ", as many as the parameter");
            }
        }
    }

    private GatunException refused(KernelPlan kernel, String reason) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(kernel.name() + "." + KernelReader.ARGUMENTS),
                "model '" + model + "': parameter '" + kernel.name() + "." + KernelReader.ARGUMENTS + "': " + reason
                        + " of function '" + kernel.function() + "' in " + file.name());
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
