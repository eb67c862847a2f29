// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

/** The value that a kernel gets for one of its parameters. */
sealed interface Argument {
    /** The size of the parameter in bytes. */
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
