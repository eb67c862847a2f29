// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Names and values for runs, kept for addresses that recur. Used by one thread at a time. Owns its values. */
final class RunArguments implements AutoCloseable {
    /** The tensor at one position of a run. */
    private static final class Bound {
        private int index;
        private long address;
        private long byteSize;
        private Datatype datatype = Datatype.BYTES;
        private Shape shape = Shape.of();

        private boolean hasRows(long rows) {
            return address != 0 && shape.rank() > 0 && shape.dim(0) == rows;
        }
    }

    private final Engine engine;
    private final MemorySegment[] inputNames;
    private final MemorySegment[] outputNames;
    private final ValueCache[] inputValues;
    private final ValueCache[] outputValues;
    private final MemorySegment inputNameArray;
    private final MemorySegment inputArray;
    private final MemorySegment outputNameArray;
    private final MemorySegment outputArray;
    private final Bound[] inputs;
    private final Bound[] outputs;
    private int inputCount;
    private int outputCount;

    /** @param arena holds names and arrays; closed after this */
    RunArguments(Engine engine, ModelDescription model, Arena arena) {
        this.engine = engine;
        int mostInputs = model.inputs().size();
        int mostOutputs = model.outputs().size();
        inputNames = names(model.inputs(), arena);
        outputNames = names(model.outputs(), arena);
        inputValues = ValueCache.several(mostInputs, engine, engine.cpuMemory(), arena);
        outputValues = ValueCache.several(mostOutputs, engine, engine.cpuMemory(), arena);
        inputNameArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, mostInputs));
        inputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, mostInputs));
        outputNameArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, mostOutputs));
        outputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, mostOutputs));
        inputs = Stream.generate(Bound::new).limit(mostInputs).toArray(Bound[]::new);
        outputs = Stream.generate(Bound::new).limit(mostOutputs).toArray(Bound[]::new);
    }

    static MemorySegment[] names(List<TensorDescription> tensors, Arena arena) {
        return tensors.stream().map(tensor -> arena.allocateFrom(tensor.name())).toArray(MemorySegment[]::new);
    }

    /** Begins a run of so many inputs and outputs; each is bound before {@link #run}. */
    void begin(int inputCount, int outputCount) {
        this.inputCount = inputCount;
        this.outputCount = outputCount;
    }

    int outputCount() {
        return outputCount;
    }

    void bindInput(int position, int index, long address, long byteSize, Datatype datatype, Shape shape) {
        bind(inputs[position], index, address, byteSize, datatype, shape);
        inputNameArray.setAtIndex(ValueLayout.ADDRESS, position, inputNames[index]);
        inputArray.setAtIndex(
                ValueLayout.ADDRESS, position, inputValues[index].value(address, byteSize, datatype, shape));
    }

    /** Makes input {@code index} a value of {@code byteSize} bytes, which the caller keeps until the run ends. */
    void bindInput(int position, int index, MemorySegment value, long byteSize) {
        inputs[position].address = 0;
        inputs[position].byteSize = byteSize;
        inputNameArray.setAtIndex(ValueLayout.ADDRESS, position, inputNames[index]);
        inputArray.setAtIndex(ValueLayout.ADDRESS, position, value);
    }

    void bindOutput(int position, int index, long address, long byteSize, Datatype datatype, Shape shape) {
        bind(outputs[position], index, address, byteSize, datatype, shape);
        outputNameArray.setAtIndex(ValueLayout.ADDRESS, position, outputNames[index]);
        outputArray.setAtIndex(
                ValueLayout.ADDRESS, position, outputValues[index].value(address, byteSize, datatype, shape));
    }

    void leaveOutput(int position, int index) {
        outputs[position].index = index;
        outputs[position].address = 0;
        outputNameArray.setAtIndex(ValueLayout.ADDRESS, position, outputNames[index]);
        outputArray.setAtIndex(ValueLayout.ADDRESS, position, MemorySegment.NULL);
    }

    private static void bind(Bound bound, int index, long address, long byteSize, Datatype datatype, Shape shape) {
        bound.index = index;
        bound.address = address;
        bound.byteSize = byteSize;
        bound.datatype = datatype;
        bound.shape = shape;
    }

    /** The value of an output that the engine has allocated; to be released by the caller. */
    MemorySegment output(int position) {
        return outputArray.getAtIndex(ValueLayout.ADDRESS, position);
    }

    long inputByteSize() {
        long sum = 0;
        for (int i = 0; i < inputCount; i++) {
            sum += inputs[i].byteSize;
        }
        return sum;
    }

    /** How many rows every tensor of the run has, all of them in memory that is known; 0 where one has not. */
    long rows() {
        if (inputCount == 0 || inputs[0].shape.rank() == 0) {
            return 0;
        }
        long rows = inputs[0].shape.dim(0);
        for (int i = 0; i < inputCount; i++) {
            if (!inputs[i].hasRows(rows)) {
                return 0;
            }
        }
        for (int i = 0; i < outputCount; i++) {
            if (!outputs[i].hasRows(rows)) {
                return 0;
            }
        }
        return rows;
    }

    /** Takes {@code count} rows of a run of {@code rows}, from {@code first} on. */
    void bindRows(RunArguments whole, long rows, long first, long count) {
        begin(whole.inputCount, whole.outputCount);
        for (int i = 0; i < inputCount; i++) {
            Bound bound = whole.inputs[i];
            long rowBytes = bound.byteSize / rows;
            bindInput(
                    i,
                    bound.index,
                    bound.address + first * rowBytes,
                    count * rowBytes,
                    bound.datatype,
                    bound.shape.withFirst(count));
        }
        for (int i = 0; i < outputCount; i++) {
            Bound bound = whole.outputs[i];
            long rowBytes = bound.byteSize / rows;
            bindOutput(
                    i,
                    bound.index,
                    bound.address + first * rowBytes,
                    count * rowBytes,
                    bound.datatype,
                    bound.shape.withFirst(count));
        }
    }

    /** Runs a model; the address of the status, 0 for success. */
    long run(Session session, RunOptions options) {
        return OrtApi.run(
                engine.api(),
                session.handle(),
                options.handle(),
                inputNameArray,
                inputArray,
                inputCount,
                outputNameArray,
                outputCount,
                outputArray);
    }

    @Override
    public void close() {
        for (ValueCache cache : inputValues) {
            cache.close();
        }
        for (ValueCache cache : outputValues) {
            cache.close();
        }
    }

    /**
     * Values around others' memory for one input or output, kept for addresses and shapes that recur. A value may
     * outlive the memory: it is only used for a tensor that lies there now. Used by one thread. Owns its values.
     */
    static final class ValueCache implements AutoCloseable {
        /** Direct mapped. A power of two, and more than the buffers that a busy client keeps in flight here. */
        private static final int SLOTS = 64;

        private static final int MAX_RANK = 16;

        private final Engine engine;
        private final MemorySegment memory;
        private final MemorySegment out;
        private final MemorySegment dims;
        private final MemorySegment[] values = new MemorySegment[SLOTS];
        private final long[] addresses = new long[SLOTS];
        private final Shape[] shapes = new Shape[SLOTS];
        private final Datatype[] datatypes = new Datatype[SLOTS];

        /** @param memory the engine's description of the memory that the tensors lie in */
        ValueCache(Engine engine, MemorySegment memory, Arena arena) {
            this.engine = engine;
            this.memory = memory;
            this.out = arena.allocate(ValueLayout.ADDRESS);
            this.dims = arena.allocate(ValueLayout.JAVA_LONG, MAX_RANK);
        }

        static ValueCache[] several(int count, Engine engine, MemorySegment memory, Arena arena) {
            return Stream.generate(() -> new ValueCache(engine, memory, arena))
                    .limit(count)
                    .toArray(ValueCache[]::new);
        }

        /** A value of {@code byteSize} bytes at {@code address}, until the next call. Throws if the engine refuses. */
        MemorySegment value(long address, long byteSize, Datatype datatype, Shape shape) {
            // Multiplicative hashing: addresses of one pool differ in few bits only.
            int slot = (int) ((address * 0x9E3779B97F4A7C15L) >>> 58) & (SLOTS - 1);
            MemorySegment kept = values[slot];
            if (kept != null) {
                if (addresses[slot] == address && datatypes[slot] == datatype && shape.equals(shapes[slot])) {
                    return kept;
                }
                values[slot] = null;
                engine.release(kept);
            }
            int rank = shape.rank();
            Objects.checkIndex(rank, MAX_RANK + 1);
            for (int i = 0; i < rank; i++) {
                dims.setAtIndex(ValueLayout.JAVA_LONG, i, shape.dim(i));
            }
            engine.check(OrtApi.createTensorWithDataAsOrtValue(
                    engine.api(),
                    memory,
                    MemorySegment.ofAddress(address),
                    byteSize,
                    dims,
                    rank,
                    ElementTypes.elementType(datatype),
                    out));
            MemorySegment value = out.get(ValueLayout.ADDRESS, 0);
            LiveHandles.valueCreated();
            values[slot] = value;
            addresses[slot] = address;
            shapes[slot] = shape;
            datatypes[slot] = datatype;
            return value;
        }

        @Override
        public void close() {
            for (int i = 0; i < SLOTS; i++) {
                if (values[i] != null) {
                    engine.release(values[i]);
                    values[i] = null;
                }
            }
        }
    }
}
