// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.util.List;

/**
 * The plan of a model's runs: sizes of outputs and of scratch memory, in bytes, then kernels in a row. With {@code
 * batching}, tensors and output shapes have a batch dimension in front. Immutable.
 */
record ModelPlan(
        TensorTable tensors,
        boolean batching,
        List<List<Formula>> outputShapes,
        List<Formula> scratchBytes,
        List<KernelPlan> kernels) {

    /** The launch of a kernel. Grid and block are in x, y and z; {@code sharedMemory} is bytes of each block. */
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
        default int byteSize() {
            return switch (this) {
                case Address address -> Long.BYTES;
                case Scalar scalar -> scalar.type().byteSize();
                case Fraction fraction -> fraction.type().byteSize();
            };
        }

        /** The device address of a tensor, by its number in the {@link TensorTable}. */
        record Address(int tensor) implements Argument {}

        /** A number that follows from the sizes of the run. */
        record Scalar(ScalarType type, Formula value) implements Argument {}

        /** A number with a fraction, the same in every run. */
        record Fraction(ScalarType type, double value) implements Argument {}
    }
}
