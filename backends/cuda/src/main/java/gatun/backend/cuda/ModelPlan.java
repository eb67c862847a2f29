// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.util.List;

/**
 * The plan of a model's runs: sizes of outputs and of scratch memory, then kernels in a row. Immutable after it was
 * made.
 *
 * @param tensors the tensors that the kernels know
 * @param batching whether the tensors have a batch dimension in front
 * @param outputShapes the dimensions of each output, the batch dimension included
 * @param scratchBytes the size of each scratch memory
 * @param kernels the launches, in their order
 */
record ModelPlan(
        TensorTable tensors,
        boolean batching,
        List<List<Formula>> outputShapes,
        List<Formula> scratchBytes,
        List<KernelPlan> kernels) {

    /**
     * How one kernel is launched. Immutable.
     *
     * @param grid how many blocks there are in x, y and z
     * @param block how many threads a block has in x, y and z
     * @param sharedMemory bytes of dynamic shared memory for each block
     * @param arguments the values of the kernel's parameters, in their order
     */
    record KernelPlan(
            String name,
            String function,
            List<Formula> grid,
            List<Formula> block,
            Formula sharedMemory,
            List<Argument> arguments) {
        /** How many numbers a grid or a block has; those that a configuration leaves out are 1. */
        static final int AXES = 3;
    }

    /** The value that a kernel gets for one of its parameters. */
    sealed interface Argument {
        int byteSize();

        /** The device address of a tensor, by its number in the {@link TensorTable}. */
        record Address(int tensor) implements Argument {
            @Override
            public int byteSize() {
                return Long.BYTES;
            }
        }

        /** A number that follows from the sizes of the run. */
        record Scalar(ScalarType type, Formula value) implements Argument {
            @Override
            public int byteSize() {
                return type.byteSize();
            }
        }

        /** A number with a fraction, the same in every run. */
        record Fraction(ScalarType type, double value) implements Argument {
            @Override
            public int byteSize() {
                return type.byteSize();
            }
        }
    }
}
