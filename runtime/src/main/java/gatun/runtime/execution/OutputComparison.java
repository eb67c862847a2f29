// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceResponse.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Compares outputs of a request that ran alone and batched. Floats may differ a little. Stateless. */
final class OutputComparison {
    /** By how much numbers may differ, as a part of the largest one of the output. */
    private static final double PRECISE = 1e-5;

    /** The same for numbers of 16 bits. */
    private static final double COARSE = 1e-2;

    private OutputComparison() {}

    /** What differs, for people to read; empty when nothing does. */
    static Optional<String> difference(InferenceTicket alone, InferenceTicket joined) {
        for (int i = 0; i < alone.tensors().outputCount(); i++) {
            String name = alone.tensors().rule(i).name();
            Optional<String> difference = difference(alone.result(i), joined.result(i));
            if (difference.isPresent()) {
                return Optional.of("output '" + name + "' " + difference.get());
            }
        }
        return Optional.empty();
    }

    private static Optional<String> difference(@Nullable OutputTensor alone, @Nullable OutputTensor joined) {
        if (alone == null || joined == null) {
            boolean both = alone == null && joined == null;
            return both ? Optional.empty() : Optional.of("is not always made");
        }
        Tensor expected = alone.tensor();
        Tensor actual = joined.tensor();
        if (!expected.spec().equals(actual.spec())) {
            return Optional.of("has shape " + actual.spec().shape() + " instead of "
                    + expected.spec().shape());
        }
        Datatype datatype = expected.spec().datatype();
        if (!isReal(datatype)) {
            return expected.bytes().mismatch(actual.bytes()) < 0 ? Optional.empty() : Optional.of("is another");
        }
        double part = farthest(datatype, expected.bytes(), actual.bytes());
        double allowed = datatype.byteSize() == Short.BYTES ? COARSE : PRECISE;
        return part <= allowed
                ? Optional.empty()
                : Optional.of(String.format(Locale.ROOT, "differs by %.2g of its largest value", part));
    }

    /** By how much numbers differ most, as a part of the largest expected one; infinite where one is no number. */
    private static double farthest(Datatype datatype, MemorySegment expected, MemorySegment actual) {
        long count = expected.byteSize() / datatype.byteSize();
        double largest = 0;
        double farthest = 0;
        for (long i = 0; i < count; i++) {
            double wanted = element(datatype, expected, i);
            double given = element(datatype, actual, i);
            if (Double.isFinite(wanted)) {
                largest = Math.max(largest, Math.abs(wanted));
            }
            if (Double.compare(wanted, given) != 0 && wanted != given) {
                double distance = Math.abs(wanted - given);
                farthest = Double.isNaN(distance) ? Double.POSITIVE_INFINITY : Math.max(farthest, distance);
            }
        }
        return farthest == 0 ? 0 : farthest / largest;
    }

    /** Whether an output of a request is made of numbers none of which is finite: such responses are all alike. */
    static boolean tellsNothing(InferenceTicket ran) {
        for (int i = 0; i < ran.tensors().outputCount(); i++) {
            OutputTensor result = ran.result(i);
            if (result != null && tellsNothing(result.tensor())) {
                return true;
            }
        }
        return false;
    }

    private static boolean tellsNothing(Tensor output) {
        Datatype datatype = output.spec().datatype();
        if (!isReal(datatype) || output.byteSize() == 0) {
            return false;
        }
        for (long i = 0; i < output.byteSize() / datatype.byteSize(); i++) {
            if (Double.isFinite(element(datatype, output.bytes(), i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isReal(Datatype datatype) {
        return switch (datatype) {
            case FP16, BF16, FP32, FP64 -> true;
            default -> false;
        };
    }

    private static double element(Datatype datatype, MemorySegment bytes, long index) {
        return switch (datatype) {
            case FP16 -> Float.float16ToFloat(bytes.getAtIndex(ElementLayouts.INT16, index));
            case BF16 -> Float.intBitsToFloat(bytes.getAtIndex(ElementLayouts.INT16, index) << Short.SIZE);
            case FP32 -> bytes.getAtIndex(ElementLayouts.FP32, index);
            default -> bytes.getAtIndex(ElementLayouts.FP64, index);
        };
    }
}
