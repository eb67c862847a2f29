// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The expected outputs; others may be anything. {@code tolerance} is absolute, plus that part of the expected value,
 * for numbers with a fraction. Borrows the memory of its tensors. Thread-safe.
 */
public record ExpectedOutputs(List<Tensor> outputs, double tolerance) {
    /** Nothing is expected. */
    public static final ExpectedOutputs NOTHING = new ExpectedOutputs(List.of(), 0);

    /** Keeps a copy of the list. */
    public ExpectedOutputs {
        outputs = List.copyOf(outputs);
    }

    /** Whether nothing is expected, so that every response is right. */
    public boolean isNothing() {
        return outputs.isEmpty();
    }

    /** The first difference between {@code actual} and the expected outputs, as text; empty when there is none. */
    public String differences(List<Tensor> actual) {
        if (isNothing()) {
            return "";
        }
        for (Tensor expected : outputs) {
            String difference = difference(expected, actual);
            if (!difference.isEmpty()) {
                return difference;
            }
        }
        return "";
    }

    private String difference(Tensor expected, List<Tensor> all) {
        String name = "output '" + expected.spec().name() + "'";
        for (Tensor actual : all) {
            if (actual.spec().name().equals(expected.spec().name())) {
                if (actual.spec().datatype() != expected.spec().datatype()) {
                    return name + " is of " + actual.spec().datatype() + ": expected "
                            + expected.spec().datatype();
                }
                if (!actual.spec().shape().equals(expected.spec().shape())) {
                    return name + " has the shape " + actual.spec().shape() + ": expected "
                            + expected.spec().shape();
                }
                return values(name, expected, actual);
            }
        }
        return name + " is missing in the answer";
    }

    private String values(String name, Tensor expected, Tensor actual) {
        MemorySegment wanted = expected.bytes();
        MemorySegment got = actual.bytes();
        long mismatch = wanted.mismatch(got);
        if (mismatch < 0) {
            return "";
        }
        Datatype datatype = expected.spec().datatype();
        if (datatype == Datatype.BYTES) {
            return name + " differs at byte " + mismatch + " of its strings and their lengths";
        }
        long first = mismatch / datatype.byteSize();
        if (!Elements.isFloatingPoint(datatype)) {
            return at(name, expected, actual, first);
        }
        long count = expected.spec().shape().elementCount();
        for (long i = first; i < count; i++) {
            double want = Elements.get(wanted, datatype, i);
            double have = Elements.get(got, datatype, i);
            boolean same = Double.compare(want, have) == 0
                    || want == have
                    || Math.abs(want - have) <= tolerance + tolerance * Math.abs(want);
            if (!same) {
                return at(name, expected, actual, i);
            }
        }
        return "";
    }

    private static String at(String name, Tensor expected, Tensor actual, long index) {
        Datatype datatype = expected.spec().datatype();
        return name + " has " + Elements.text(actual.bytes(), datatype, index) + " at element " + index + ": expected "
                + Elements.text(expected.bytes(), datatype, index);
    }
}
