// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

/**
 * A number that follows from a run's sizes. Evaluating it allocates nothing. Arithmetic is that of 64-bit integers in
 * C, but overflow and division by zero throw {@link ArithmeticException}.
 */
sealed interface Expression {
    /** The number for these sizes. Throws {@link ArithmeticException} that names the operation without a result. */
    long value(Sizes sizes);

    /** Whether it is the same in every run. */
    default boolean isConstant() {
        return false;
    }

    /** A number as it is written. */
    record Constant(long value) implements Expression {
        @Override
        public long value(Sizes sizes) {
            return value;
        }

        @Override
        public boolean isConstant() {
            return true;
        }
    }

    /** How many rows the run has. */
    record Batch() implements Expression {
        @Override
        public long value(Sizes sizes) {
            return sizes.batch();
        }
    }

    /** One dimension of a tensor. */
    record Dimension(int tensor, int index) implements Expression {
        @Override
        public long value(Sizes sizes) {
            if (index >= sizes.shape(tensor).rank()) {
                throw new ArithmeticException("dimension " + index + " of shape " + sizes.shape(tensor));
            }
            return sizes.shape(tensor).dim(index);
        }
    }

    /** How many elements a tensor has. */
    record Elements(int tensor) implements Expression {
        @Override
        public long value(Sizes sizes) {
            return sizes.elementCount(tensor);
        }
    }

    /** How many bytes a tensor has. */
    record Bytes(int tensor) implements Expression {
        @Override
        public long value(Sizes sizes) {
            return sizes.byteSize(tensor);
        }
    }

    /** How many dimensions a tensor has. */
    record Rank(int tensor) implements Expression {
        @Override
        public long value(Sizes sizes) {
            return sizes.shape(tensor).rank();
        }
    }

    /** An operation on two other numbers. */
    record Binary(Operator operator, Expression left, Expression right) implements Expression {
        @Override
        public long value(Sizes sizes) {
            return operator.apply(left.value(sizes), right.value(sizes));
        }

        @Override
        public boolean isConstant() {
            return left.isConstant() && right.isConstant();
        }
    }

    /** An operation on two numbers. */
    enum Operator {
        ADD,
        SUBTRACT,
        MULTIPLY,
        /** Rounds towards zero, as C does. */
        DIVIDE,
        CEILING_DIVIDE,
        /** Has the sign of the dividend, as in C. */
        REMAINDER,
        MINIMUM,
        MAXIMUM;

        long apply(long left, long right) {
            return switch (this) {
                case ADD -> {
                    long sum = left + right;
                    yield ((left ^ sum) & (right ^ sum)) < 0 ? overflow(left, "+", right) : sum;
                }
                case SUBTRACT -> {
                    long difference = left - right;
                    yield ((left ^ right) & (left ^ difference)) < 0 ? overflow(left, "-", right) : difference;
                }
                case MULTIPLY -> {
                    long product = left * right;
                    yield Math.multiplyHigh(left, right) != product >> (Long.SIZE - 1)
                            ? overflow(left, "*", right)
                            : product;
                }
                case DIVIDE -> {
                    checkDivision(left, "/", right);
                    yield left / right;
                }
                case CEILING_DIVIDE -> {
                    checkDivision(left, "/", right);
                    yield Math.ceilDiv(left, right);
                }
                case REMAINDER -> {
                    checkDivision(left, "%", right);
                    yield left % right;
                }
                case MINIMUM -> Math.min(left, right);
                case MAXIMUM -> Math.max(left, right);
            };
        }

        private static void checkDivision(long left, String sign, long right) {
            if (right == 0) {
                throw new ArithmeticException(left + " " + sign + " 0 divides by zero");
            }
            if (left == Long.MIN_VALUE && right == -1) {
                overflow(left, sign, right);
            }
        }

        private static long overflow(long left, String sign, long right) {
            throw new ArithmeticException(left + " " + sign + " " + right + " exceeds 64 bits");
        }
    }
}
