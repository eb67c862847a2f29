// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.InferenceRequest;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;

/** Makes dense tensors of examples' features, in native memory. Not thread-safe. */
final class FeatureTensors {
    private final MemorySegment examples;
    private final long exampleCount;

    /** Reads serialised messages, each an element of a BYTES tensor. */
    FeatureTensors(MemorySegment examples, long exampleCount) {
        this.examples = examples;
        this.exampleCount = exampleCount;
    }

    /** Adds tensors in buffers of {@code pool}. Throws INVALID_ARGUMENT when an example is bad or does not fit. */
    void addTo(InferenceRequest request, BufferPool pool, List<FeatureInput> inputs) {
        try (FeatureTable table = FeatureTable.of(examples, exampleCount, inputs, pool)) {
            for (int i = 0; i < inputs.size(); i++) {
                FeatureInput input = inputs.get(i);
                if (!input.optional() || isThere(table, i)) {
                    add(table, i, input, request, pool);
                }
            }
        }
    }

    private boolean isThere(FeatureTable table, int index) {
        for (long example = 0; example < exampleCount; example++) {
            if (table.contains(index, example)) {
                return true;
            }
        }
        return false;
    }

    private void add(FeatureTable table, int index, FeatureInput input, InferenceRequest request, BufferPool pool) {
        long[] dims = dims(input, feature(table, index, input, 0).count());
        long expected = LongStream.of(dims).reduce(1, Math::multiplyExact);
        long textByteSize = 0;
        for (long example = 0; example < exampleCount; example++) {
            FeatureValues values = feature(table, index, input, example);
            if (values.count() != expected) {
                throw GatunException.invalidArgument("Feature: " + input.name() + " has " + values.count()
                        + " values in example " + example + "; expected " + expected + ", for the input takes "
                        + input.dims() + " of each example, and of each as many as of the first");
            }
            textByteSize += values.textByteSize();
        }
        Shape shape = Shape.of(dims).prepend(exampleCount);
        long byteSize = input.datatype().isFixedSize()
                ? shape.byteSize(input.datatype())
                : textByteSize + BytesCodec.LENGTH_BYTES * shape.elementCount();
        Buffer buffer = pool.take(byteSize);
        request.hold(buffer);
        ValueTarget target = new ValueTarget(input, buffer.segment());
        for (long example = 0; example < exampleCount; example++) {
            table.values(index, example).read(target);
        }
        request.addInput(new Tensor(
                new TensorSpec(input.name(), input.datatype(), shape),
                buffer.segment().asSlice(0, target.at)));
    }

    /** The shape of one example's values, where the first has {@code first} of them. */
    private static long[] dims(FeatureInput input, long first) {
        long[] dims = input.dims().toArray();
        long fixed = LongStream.of(dims).filter(dim -> dim != Shape.VARIABLE).reduce(1, Math::multiplyExact);
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == Shape.VARIABLE) {
                dims[i] = fixed == 0 ? 0 : first / fixed;
            }
        }
        return dims;
    }

    private static FeatureValues feature(FeatureTable table, int index, FeatureInput input, long example) {
        if (!table.contains(index, example)) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " is required but could not be found in"
                    + " example " + example + "; features are named as the model's inputs");
        }
        FeatureValues values = table.values(index, example);
        boolean fits =
                switch (values.kind()) {
                    case BYTES_LIST -> input.datatype() == Datatype.BYTES;
                    case FLOAT_LIST -> input.datatype() == Datatype.FP32 || input.datatype() == Datatype.FP64;
                    // Whole numbers are integers in JSON, also where they stand for others.
                    case INT64_LIST -> input.datatype() != Datatype.BYTES;
                    case KIND_NOT_SET -> true;
                };
        if (!fits) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " has values of kind " + values.kind()
                    + " in example " + example + ", and the input takes "
                    + DataTypes.shortName(input.datatype()));
        }
        return values;
    }

    /** Writes values as elements of a tensor, one behind the other. */
    private final class ValueTarget implements FeatureValues.Target {
        private final FeatureInput input;
        private final MemorySegment target;
        private long at;

        ValueTarget(FeatureInput input, MemorySegment target) {
            this.input = input;
            this.target = target;
        }

        @Override
        public void text(long start, long byteSize) {
            at = BytesCodec.put(target, at, examples, start, byteSize);
        }

        @Override
        public void real(float value) {
            at = putReal(input, target, at, value);
        }

        @Override
        public void integer(long value) {
            at = putInteger(input, target, at, value);
        }
    }

    private static long putReal(FeatureInput input, MemorySegment target, long at, float value) {
        if (input.datatype() == Datatype.FP32) {
            target.set(ElementLayouts.FP32, at, value);
            return at + Float.BYTES;
        }
        target.set(ElementLayouts.FP64, at, value);
        return at + Double.BYTES;
    }

    private static long putInteger(FeatureInput input, MemorySegment target, long at, long value) {
        Datatype datatype = input.datatype();
        if (!fits(datatype, value)) {
            throw GatunException.invalidArgument("Feature: " + input.name() + " has the value " + value
                    + ", which the input's type " + DataTypes.shortName(datatype) + " does not have");
        }
        switch (datatype) {
            case FP32 -> target.set(ElementLayouts.FP32, at, (float) value);
            case FP64 -> target.set(ElementLayouts.FP64, at, (double) value);
            case BOOL, INT8, UINT8 -> target.set(JAVA_BYTE, at, (byte) value);
            case INT16, UINT16 -> target.set(ElementLayouts.INT16, at, (short) value);
            case INT32, UINT32 -> target.set(ElementLayouts.INT32, at, (int) value);
            case INT64, UINT64 -> target.set(ElementLayouts.INT64, at, value);
            default -> throw new IllegalStateException(datatype + " holds no integer");
        }
        return at + datatype.byteSize();
    }

    private static boolean fits(Datatype datatype, long value) {
        return switch (datatype) {
            case BOOL -> value == 0 || value == 1;
            case INT8 -> value == (byte) value;
            case INT16 -> value == (short) value;
            case INT32 -> value == (int) value;
            case UINT8, UINT16, UINT32 -> value >= 0 && value >>> (Byte.SIZE * datatype.byteSize()) == 0;
            case UINT64 -> value >= 0;
            default -> true;
        };
    }

    /** Where examples have their features, in native memory, without heap. Not thread-safe; closed by its owner. */
    static final class FeatureTable implements AutoCloseable {
        // Field numbers of Example, Features and an entry of the map of features.
        private static final int FEATURES = 1;
        private static final int ENTRY = 1;
        private static final int ENTRY_KEY = 1;

        /** Begin and end of an entry; both 0 where an example lacks the feature. */
        private static final long ROW_BYTES = 2 * Long.BYTES;

        private final MemorySegment examples;
        private final long exampleCount;
        private final MemorySegment[] names;
        private final Buffer rows;

        private FeatureTable(MemorySegment examples, long exampleCount, MemorySegment[] names, Buffer rows) {
            this.examples = examples;
            this.exampleCount = exampleCount;
            this.names = names;
            this.rows = rows;
        }

        /** Finds the features in the elements of a BYTES tensor. Throws INVALID_ARGUMENT when one is no example. */
        static FeatureTable of(MemorySegment examples, long exampleCount, List<FeatureInput> inputs, BufferPool pool) {
            MemorySegment[] names = inputs.stream()
                    .map(input -> MemorySegment.ofArray(input.name().getBytes(StandardCharsets.UTF_8)))
                    .toArray(MemorySegment[]::new);
            Buffer rows = pool.take(Math.multiplyExact(exampleCount, ROW_BYTES * names.length));
            try {
                CooperativeCopy.clear(rows.segment());
                FeatureTable table = new FeatureTable(examples, exampleCount, names, rows);
                table.find();
                return table;
            } catch (Throwable t) {
                rows.close();
                throw t;
            }
        }

        /** The values of an input in an example; none where the example lacks the feature, see {@link #contains}. */
        FeatureValues values(int input, long example) {
            long row = row(input, example);
            return new FeatureValues(
                    examples,
                    example,
                    rows.segment().get(ElementLayouts.INT64, row),
                    rows.segment().get(ElementLayouts.INT64, row + Long.BYTES));
        }

        boolean contains(int input, long example) {
            return rows.segment().get(ElementLayouts.INT64, row(input, example) + Long.BYTES) != 0;
        }

        private long row(int input, long example) {
            return (input * exampleCount + example) * ROW_BYTES;
        }

        private void find() {
            long at = 0;
            CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
            for (long i = 0; i < exampleCount; i++) {
                long byteSize = BytesCodec.elementByteSize(examples, at);
                at += BytesCodec.LENGTH_BYTES;
                find(new ExampleCursor(examples, i, at, at + byteSize), i);
                work.worked(BytesCodec.LENGTH_BYTES + byteSize);
                at += byteSize;
            }
        }

        private void find(ExampleCursor in, long example) {
            long end = in.limit();
            while (in.hasMore()) {
                int tag = in.tag();
                if (tag != ExampleCursor.delimited(FEATURES)) {
                    in.skip(tag);
                    continue;
                }
                long featuresEnd = in.length() + in.position();
                in.window(in.position(), featuresEnd);
                while (in.hasMore()) {
                    int entry = in.tag();
                    if (entry == ExampleCursor.delimited(ENTRY)) {
                        long entryEnd = in.length() + in.position();
                        add(in, in.position(), entryEnd, example);
                        in.window(entryEnd, featuresEnd);
                    } else {
                        in.skip(entry);
                    }
                }
                in.window(featuresEnd, end);
            }
        }

        /** Notes an entry where it is for an input; of several for one the last counts. */
        private void add(ExampleCursor in, long start, long end, long example) {
            long nameStart = start;
            long nameLength = 0;
            in.window(start, end);
            while (in.hasMore()) {
                int tag = in.tag();
                if (tag == ExampleCursor.delimited(ENTRY_KEY)) {
                    nameLength = in.length();
                    nameStart = in.advance(nameLength);
                } else {
                    in.skip(tag);
                }
            }
            for (int input = 0; input < names.length; input++) {
                MemorySegment name = names[input];
                if (name.byteSize() == nameLength
                        && MemorySegment.mismatch(examples, nameStart, nameStart + nameLength, name, 0, nameLength)
                                < 0) {
                    long row = row(input, example);
                    rows.segment().set(ElementLayouts.INT64, row, start);
                    rows.segment().set(ElementLayouts.INT64, row + Long.BYTES, end);
                    return;
                }
            }
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
