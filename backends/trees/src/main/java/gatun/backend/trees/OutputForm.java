// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import java.lang.foreign.MemorySegment;

/**
 * How an output is made of the library's {@code columns} numbers of a row. {@code threshold} is for {@link Kind#CLASS}
 * of rows with one number. Immutable.
 */
record OutputForm(Kind kind, Datatype datatype, int columns, float threshold) {
    /** What is done with the library's numbers. */
    enum Kind {
        PLAIN,
        /** The place of the largest, or for rows with one number, whether it is above the threshold. */
        CLASS,
        /** The number is the probability of one of two classes, and that of the other goes before it. */
        BOTH_CLASSES
    }

    /** How many elements the output has for a row. */
    int width() {
        return switch (kind) {
            case PLAIN -> columns;
            case CLASS -> 1;
            case BOTH_CLASSES -> 2;
        };
    }

    boolean isAsGiven(Datatype library) {
        return kind == Kind.PLAIN && datatype == library;
    }

    void write(MemorySegment numbers, Datatype library, long rows, MemorySegment target) {
        if (isAsGiven(library)) {
            MemorySegment.copy(numbers, 0, target, 0, target.byteSize());
            return;
        }
        switch (kind) {
            case PLAIN -> {
                for (long i = 0; i < rows * columns; i++) {
                    set(target, i, number(numbers, library, i));
                }
            }
            case CLASS -> {
                for (long row = 0; row < rows; row++) {
                    set(target, row, choose(numbers, library, row * columns));
                }
            }
            case BOTH_CLASSES -> {
                for (long row = 0; row < rows; row++) {
                    double second = number(numbers, library, row);
                    // In the library's own precision, as clients compute it from a single number.
                    set(target, 2 * row, library == Datatype.FP32 ? 1.0f - (float) second : 1.0 - second);
                    set(target, 2 * row + 1, second);
                }
            }
        }
    }

    private int choose(MemorySegment numbers, Datatype library, long first) {
        if (columns == 1) {
            return number(numbers, library, first) > threshold ? 1 : 0;
        }
        int best = 0;
        double most = 0;
        for (int i = 0; i < columns; i++) {
            double candidate = number(numbers, library, first + i);
            if (candidate > most) {
                most = candidate;
                best = i;
            }
        }
        return best;
    }

    private static double number(MemorySegment numbers, Datatype library, long index) {
        return library == Datatype.FP32
                ? numbers.getAtIndex(ElementLayouts.FP32, index)
                : numbers.getAtIndex(ElementLayouts.FP64, index);
    }

    private void set(MemorySegment target, long index, double value) {
        switch (datatype) {
            case FP32 -> target.setAtIndex(ElementLayouts.FP32, index, (float) value);
            case FP64 -> target.setAtIndex(ElementLayouts.FP64, index, value);
            case INT32 -> target.setAtIndex(ElementLayouts.INT32, index, (int) value);
            default -> throw new IllegalStateException("no output of a forest is " + datatype);
        }
    }
}
