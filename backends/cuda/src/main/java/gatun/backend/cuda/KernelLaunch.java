// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.ModelPlan.Argument;
import gatun.backend.cuda.ModelPlan.KernelPlan;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaStream;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Launches one kernel with parameter memory made at load. Used by the instance's thread only. */
final class KernelLaunch {
    /** As many as CUDA allows, even if each has one byte: 32764. */
    private static final int MAX_PARAMETERS = 32_764;

    private final KernelPlan plan;
    private final MemorySegment function;
    private final LaunchLimits limits;
    private final int maxThreads;
    private final int maxSharedBytes;
    private final Argument[] arguments;

    /** For each argument 8 bytes with its value. */
    private final MemorySegment[] slots;

    /** For each argument the address of its slot, as cuLaunchKernel wants them. */
    private final MemorySegment pointers;

    // Results of prepare().
    private int gridX;
    private int gridY;
    private int gridZ;
    private int blockX;
    private int blockY;
    private int blockZ;
    private int sharedBytes;

    /** Throws INVALID_ARGUMENT for a constant above a limit. {@code checked}: the arguments fit the function. */
    KernelLaunch(
            KernelPlan plan,
            MemorySegment function,
            LaunchLimits limits,
            boolean checked,
            CudaStream stream,
            Arena arena) {
        this.plan = plan;
        this.function = function;
        this.limits = limits;
        this.maxThreads = attribute(stream, cuda_h.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK());
        this.maxSharedBytes =
                Math.max(0, limits.sharedBytes() - attribute(stream, cuda_h.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES()));
        this.arguments = plan.arguments().toArray(Argument[]::new);
        this.slots = new MemorySegment[arguments.length];
        this.pointers = arena.allocate(cuda_h.C_POINTER, checked ? Math.max(1, arguments.length) : MAX_PARAMETERS);
        for (int i = 0; i < arguments.length; i++) {
            slots[i] = arena.allocate(Long.BYTES, Long.BYTES);
            pointers.setAtIndex(cuda_h.C_POINTER, i, slots[i]);
            if (arguments[i] instanceof Argument.Fraction fraction) {
                fraction.type().write(slots[i], fraction.value());
            }
        }
        if (!checked) {
            // A function with more parameters than arguments gets zeros for the rest, and not the bytes that happen to
            // lie behind.
            MemorySegment zeros = arena.allocate(MAX_PARAMETERS * (long) Long.BYTES, Long.BYTES);
            for (int i = arguments.length; i < MAX_PARAMETERS; i++) {
                pointers.setAtIndex(cuda_h.C_POINTER, i, zeros);
            }
        }
        checkConstants();
        allowSharedMemory(stream);
    }

    private int attribute(CudaStream stream, int attribute) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment value = scratch.allocate(cuda_h.C_INT);
            stream.device().check(cuda_h.cuFuncGetAttribute(value, attribute, function), "cuFuncGetAttribute");
            return value.get(cuda_h.C_INT, 0);
        }
    }

    /** Has the JVM link the call that launches, which takes longer than many a kernel. */
    static void link() {
        cuda_h.cuLaunchKernel$handle();
    }

    /** Checks the numbers that are the same in every run, so that they fail at load and not in a request. */
    private void checkConstants() {
        checkConstant(plan.grid().get(0), 1, limits.grid().x());
        checkConstant(plan.grid().get(1), 1, limits.grid().y());
        checkConstant(plan.grid().get(2), 1, limits.grid().z());
        checkConstant(plan.block().get(0), 1, limits.block().x());
        checkConstant(plan.block().get(1), 1, limits.block().y());
        checkConstant(plan.block().get(2), 1, limits.block().z());
        checkConstant(plan.sharedMemory(), 0, maxSharedBytes);
        if (plan.block().stream().allMatch(axis -> axis.expression().isConstant())) {
            prepareBlock(NO_SIZES);
        }
    }

    private static void checkConstant(Formula formula, long least, long most) {
        if (formula.expression().isConstant()) {
            formula.value(NO_SIZES, least, most);
        }
    }

    /** For constants, which use no sizes. */
    private static final Sizes NO_SIZES = new Sizes(0);

    /** A kernel that may use more than a block usually has must say so before. */
    private void allowSharedMemory(CudaStream stream) {
        boolean small = plan.sharedMemory().expression().isConstant()
                && plan.sharedMemory().value(NO_SIZES) <= limits.usualSharedBytes();
        if (!small && maxSharedBytes > limits.usualSharedBytes()) {
            stream.device()
                    .check(
                            cuda_h.cuFuncSetAttribute(
                                    function, cuda_h.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES(), maxSharedBytes),
                            "cuFuncSetAttribute");
        }
    }

    /** Computes a run. Throws INVALID_ARGUMENT for a number without result or beyond limits; nothing is done then. */
    void prepare(Sizes sizes) {
        gridX = (int) plan.grid().get(0).value(sizes, 1, limits.grid().x());
        gridY = (int) plan.grid().get(1).value(sizes, 1, limits.grid().y());
        gridZ = (int) plan.grid().get(2).value(sizes, 1, limits.grid().z());
        prepareBlock(sizes);
        sharedBytes = (int) plan.sharedMemory().value(sizes, 0, maxSharedBytes);
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Argument.Scalar scalar) {
                ScalarType type = scalar.type();
                type.write(slots[i], scalar.value().value(sizes, type.least(), type.most()));
            }
        }
    }

    private void prepareBlock(Sizes sizes) {
        blockX = (int) plan.block().get(0).value(sizes, 1, limits.block().x());
        blockY = (int) plan.block().get(1).value(sizes, 1, limits.block().y());
        blockZ = (int) plan.block().get(2).value(sizes, 1, limits.block().z());
        long threads = (long) blockX * blockY * blockZ;
        if (threads > maxThreads) {
            throw GatunException.invalidArgument("a block of kernel '" + plan.name() + "' would have " + threads
                    + " threads (" + blockX + " x " + blockY + " x " + blockZ + "), expected at most " + maxThreads
                    + " for this kernel on this GPU; see the model's parameter '"
                    + plan.block().getFirst().parameter()
                    + "'");
        }
    }

    /** Queues the kernel as it was prepared. Throws when CUDA refuses, or the device has failed. */
    void launch(CudaStream stream, long[] addresses) {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Argument.Address address) {
                slots[i].set(ValueLayout.JAVA_LONG, 0, addresses[address.tensor()]);
            }
        }
        int result = cuda_h.cuLaunchKernel(
                function,
                gridX,
                gridY,
                gridZ,
                blockX,
                blockY,
                blockZ,
                sharedBytes,
                stream.handle(),
                pointers,
                MemorySegment.NULL);
        if (result != cuda_h.CUDA_SUCCESS()) {
            stream.device().check(result, "cuLaunchKernel " + described());
        }
    }

    /** The kernel, grid, block and shared memory that were prepared, for messages. */
    String described() {
        return "'" + plan.name() + "' with grid " + List.of(gridX, gridY, gridZ) + " and block "
                + List.of(blockX, blockY, blockZ)
                + (sharedBytes == 0 ? "" : " and " + sharedBytes + " bytes of shared memory");
    }

    /** The most that a GPU takes. Kernels get {@code usualSharedBytes} for a block without having asked. Immutable. */
    record LaunchLimits(Extent grid, Extent block, int sharedBytes, int usualSharedBytes) {
        /** How many there may be in each direction. */
        record Extent(int x, int y, int z) {}

        static LaunchLimits of(CudaDevice device) {
            return new LaunchLimits(
                    new Extent(
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X()),
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y()),
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z())),
                    new Extent(
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X()),
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y()),
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z())),
                    Math.max(
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()),
                            device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN())),
                    device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()));
        }
    }
}
