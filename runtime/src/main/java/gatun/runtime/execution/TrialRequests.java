// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** Makes the requests of a {@link BatchingTrial}, rows of different size, always the same. Immutable. */
final class TrialRequests {
    static final int COUNT = 3;
    private static final int ALIGNMENT = 64;

    /** What all requests of an attempt may take. */
    private static final long MOST_BYTES = 64 << 20;

    /** Any fixed number, so that every load tries the same. */
    private static final long SEED = 20_090_219;

    /** How large floating point numbers are; far apart, for models that work with logarithms and powers. */
    private static final double[] MAGNITUDES = {1, 100, 1e-4};

    /** One more than the greatest whole number of each request: small, since they may be indices. */
    private static final int[] WHOLE_BOUNDS = {4, 10, 3};

    /**
     * The values of an attempt, not all of which a model need take: {@code openDim} is the size of open dimensions but
     * the first, {@code wide} whether whole numbers exceed 1.
     */
    record Values(long openDim, boolean wide, boolean signed) {
        /** One more than the greatest whole number of a request. */
        private int wholeBound(int request) {
            return wide ? WHOLE_BOUNDS[request] : 2;
        }
    }

    private final EntryPoint entryPoint;
    private final boolean isNamed;

    /** @param isNamed whether requests ask for it by name */
    TrialRequests(EntryPoint entryPoint, boolean isNamed) {
        this.entryPoint = entryPoint;
        this.isNamed = isNamed;
    }

    /** The values to try, in turn, until the model takes them. */
    List<Values> attempts() {
        boolean open = inputs().stream()
                .anyMatch(input -> !input.spec().shape().withoutFirst().isFixed());
        boolean counts =
                inputs().stream().anyMatch(input -> isWhole(input.spec().datatype()));
        boolean measures =
                inputs().stream().anyMatch(input -> isReal(input.spec().datatype()));
        List<Values> attempts = new ArrayList<>();
        for (long openDim : open ? new long[] {8, 1, 32, 224} : new long[] {1}) {
            attempts.add(new Values(openDim, true, true));
            if (counts) {
                attempts.add(new Values(openDim, false, true));
            }
            if (measures) {
                attempts.add(new Values(openDim, false, false));
            }
        }
        return attempts;
    }

    private List<EntryTensor> inputs() {
        return entryPoint.inputs().stream().filter(input -> !input.optional()).toList();
    }

    private static boolean isWhole(Datatype datatype) {
        return datatype.isFixedSize() && datatype != Datatype.BOOL && !isReal(datatype);
    }

    private static boolean isReal(Datatype datatype) {
        return switch (datatype) {
            case FP16, BF16, FP32, FP64 -> true;
            default -> false;
        };
    }

    /** Whether requests of such values fit into the memory that a trial may take. */
    boolean fit(Values values) {
        long byteSize = 0;
        for (EntryTensor input : inputs()) {
            Datatype datatype = input.spec().datatype();
            Shape shape = shape(input.spec().shape(), values.openDim());
            long row = datatype.isFixedSize() ? shape.byteSize(datatype) : shape.elementCount() * ALIGNMENT;
            byteSize += row < 0 || row > MOST_BYTES ? MOST_BYTES : COUNT * row;
        }
        return byteSize < MOST_BYTES;
    }

    private static Shape shape(Shape spec, long openDim) {
        long[] dims = spec.toArray();
        dims[0] = 1;
        for (int i = 1; i < dims.length; i++) {
            dims[i] = dims[i] == Shape.VARIABLE ? openDim : dims[i];
        }
        return Shape.of(dims);
    }

    InferenceRequest request(ModelVersion version, int index, Values values, Arena arena) {
        SplittableRandom random = new SplittableRandom(SEED + index);
        InferenceRequest request = new InferenceRequest(version);
        if (isNamed) {
            request.entryPoint(entryPoint.name());
        }
        for (EntryTensor input : inputs()) {
            TensorSpec spec = input.spec();
            Shape shape = shape(spec.shape(), values.openDim());
            request.addInput(new Tensor(
                    new TensorSpec(spec.name(), spec.datatype(), shape),
                    bytes(spec.datatype(), shape.elementCount(), index, values, random, arena)));
        }
        return request;
    }

    private static MemorySegment bytes(
            Datatype datatype, long count, int index, Values values, SplittableRandom random, Arena arena) {
        if (datatype == Datatype.BYTES) {
            return texts(count, values.wholeBound(index), random, arena);
        }
        MemorySegment bytes = arena.allocate(count * datatype.byteSize(), ALIGNMENT);
        double least = values.signed() ? -MAGNITUDES[index] : 0;
        MadeUpElements.fill(
                bytes,
                datatype,
                () -> random.nextInt(values.wholeBound(index)),
                () -> random.nextDouble(least, MAGNITUDES[index]));
        return bytes;
    }

    /** Numbers, which models that read numbers from texts can read too. */
    private static MemorySegment texts(long count, int most, SplittableRandom random, Arena arena) {
        List<String> texts = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            texts.add(Integer.toString(random.nextInt(most)));
        }
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(texts), ALIGNMENT);
        BytesCodec.encodeText(texts, bytes);
        return bytes;
    }

    /** Fills tensors that no client has sent. Without state. */
    static final class MadeUpElements {
        private MadeUpElements() {}

        /** Fills elements of fixed size; {@code whole} gives whole numbers, whose low bits count, and truth values. */
        static void fill(MemorySegment bytes, Datatype datatype, LongSupplier whole, DoubleSupplier real) {
            long count = datatype.isFixedSize() ? bytes.byteSize() / datatype.byteSize() : 0;
            for (long i = 0; i < count; i++) {
                switch (datatype) {
                    case BOOL -> bytes.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) (whole.getAsLong() & 1));
                    case INT8, UINT8 -> bytes.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) whole.getAsLong());
                    case INT16, UINT16 -> bytes.setAtIndex(ElementLayouts.INT16, i, (short) whole.getAsLong());
                    case INT32, UINT32 -> bytes.setAtIndex(ElementLayouts.INT32, i, (int) whole.getAsLong());
                    case INT64, UINT64 -> bytes.setAtIndex(ElementLayouts.INT64, i, whole.getAsLong());
                    case FP16 ->
                        bytes.setAtIndex(ElementLayouts.INT16, i, Float.floatToFloat16((float) real.getAsDouble()));
                    case BF16 -> bytes.setAtIndex(ElementLayouts.INT16, i, bfloat16((float) real.getAsDouble()));
                    case FP32 -> bytes.setAtIndex(ElementLayouts.FP32, i, (float) real.getAsDouble());
                    case FP64 -> bytes.setAtIndex(ElementLayouts.FP64, i, real.getAsDouble());
                    default -> {}
                }
            }
        }

        private static short bfloat16(float value) {
            return (short) (Float.floatToRawIntBits(value) >>> Short.SIZE);
        }
    }
}
