// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner.ExecutionMode;
import gatun.backend.onnxruntime.ModelDescription.OutputShapes;
import gatun.backend.onnxruntime.ModelDescription.ScalarTensors;
import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.bindings.NativeException;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Runs sessions, which it gives back, on tensors where they lie; copies outputs of unknown shape once. */
final class OnnxInstance implements BackendInstance {
    private final Engine engine;
    private final InstanceSessions sessions;
    private final ModelDescription model;
    private final OutputShapes outputShapes;
    private final ScalarTensors scalars;
    private final StringTensors strings;
    private final OutputValues values;
    private final AlignedCopies alignedCopies;

    /** Shared, since short runs come on the requests' threads. */
    private final Arena arena = Arena.ofShared();

    private final RunOptions runOptions;

    /** Whether the sessions keep memory of past runs in arenas. */
    private final boolean trimsArenas;

    private final RunArguments arguments;

    /** Null where batches are not divided. */
    private final @Nullable BatchParts parts;

    private final RequestBorders borders = new RequestBorders();

    /** True until a run shows that the requests of a batch need one another. */
    private boolean rowsIndependent = true;

    private final Shape[] inputShapes;
    /** Values of this run only, to be released after it; NULL where the value is a cache's. */
    private final MemorySegment[] inputOwned;

    /** Outputs that the engine allocated in this run, to be released after it; NULL for memory of ours. */
    private final MemorySegment[] outputOwned;

    private final MemorySegment[] destinations;
    private final int[] outputIndexes;

    OnnxInstance(
            Engine engine,
            InstanceSessions sessions,
            OnnxParameters parameters,
            ModelDescription model,
            ScalarTensors scalars) {
        this.engine = engine;
        this.sessions = sessions;
        this.model = model;
        this.scalars = scalars;
        this.outputShapes = new OutputShapes(model);
        this.strings = new StringTensors(engine);
        this.values = new OutputValues(engine);
        this.alignedCopies = new AlignedCopies(model.inputs().size());
        this.runOptions = new RunOptions(engine, parameters.runEntries());
        this.trimsArenas = parameters.usesArenas();
        int inputs = model.inputs().size();
        int outputs = model.outputs().size();
        arguments = new RunArguments(engine, model, arena);
        parts = sessions.parts() > 1 ? new BatchParts(engine, model, sessions.parts(), arena) : null;
        inputShapes = new Shape[inputs];
        inputOwned = new MemorySegment[inputs];
        outputOwned = new MemorySegment[outputs];
        destinations = new MemorySegment[outputs];
        outputIndexes = new int[outputs];
        Arrays.fill(inputOwned, MemorySegment.NULL);
        Arrays.fill(outputOwned, MemorySegment.NULL);
        Arrays.fill(destinations, MemorySegment.NULL);
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void stop() {
        runOptions.stop();
    }

    @Override
    public void execute(Execution execution) {
        int outputCount = execution.outputCount();
        runOptions.resume();
        try {
            boolean guessed = bind(execution);
            execution.inferStarted();
            long status = run(execution);
            if (guessed && status != 0) {
                status = runAgainWithoutGuesses(status, execution);
            }
            check(status);
            execution.inferEnded();
            takeOutputs(outputCount);
            for (int i = 0; i < outputCount; i++) {
                if (outputOwned[i].address() != 0) {
                    copyOutput(i, outputOwned[i], execution);
                }
            }
        } catch (NativeException e) {
            throw OnnxErrors.ofRun(e);
        } finally {
            forget(execution.inputCount(), outputCount);
        }
    }

    /** Gives the engine inputs and outputs; whether an output's shape rests on the file's dimension names. */
    private boolean bind(Execution execution) {
        int inputCount = execution.inputCount();
        int outputCount = execution.outputCount();
        arguments.begin(inputCount, outputCount);
        for (int i = 0; i < inputCount; i++) {
            bindInput(i, execution.input(i));
        }
        boolean guessed = false;
        for (int i = 0; i < outputCount; i++) {
            guessed |= bindOutput(i, execution);
        }
        return guessed;
    }

    private void takeOutputs(int count) {
        for (int i = 0; i < count; i++) {
            if (!isInPlace(i)) {
                outputOwned[i] = arguments.output(i);
                LiveHandles.valueCreated();
            }
        }
    }

    private void forget(int inputCount, int outputCount) {
        release(inputOwned, inputCount);
        release(outputOwned, outputCount);
        Arrays.fill(destinations, 0, outputCount, MemorySegment.NULL);
    }

    private void release(MemorySegment[] owned, int count) {
        for (int i = 0; i < count; i++) {
            if (owned[i].address() != 0) {
                engine.release(owned[i]);
                owned[i] = MemorySegment.NULL;
            }
        }
    }

    private void bindInput(int position, Tensor tensor) {
        int index = model.inputIndex(tensor.spec().name(), position);
        Datatype datatype = tensor.spec().datatype();
        Shape shape = scalars.taken(index, tensor.spec().shape());
        inputShapes[index] = shape;
        MemorySegment bytes = tensor.bytes();
        if (datatype == Datatype.BYTES) {
            inputOwned[position] = strings.value(tensor, shape);
            arguments.bindInput(position, index, inputOwned[position], bytes.byteSize());
            return;
        }
        if (!isAligned(bytes, datatype)) {
            bytes = alignedCopies.copy(index, bytes);
        }
        arguments.bindInput(position, index, bytes.address(), bytes.byteSize(), datatype, shape);
    }

    /** Gives the engine memory for an output of known size; returns whether dimension names were trusted. */
    private boolean bindOutput(int position, Execution execution) {
        int index = model.outputIndex(execution.outputName(position), position);
        outputIndexes[position] = index;
        arguments.leaveOutput(position, index);
        TensorDescription output = model.outputs().get(index);
        if (!output.datatype().isFixedSize() || !outputShapes.isKnown(index)) {
            return false;
        }
        Shape shape = outputShapes.shape(index, inputShapes);
        long byteSize = shape.byteSize(output.datatype());
        if (byteSize < 0) {
            return false;
        }
        MemorySegment memory = execution.output(position, output.datatype(), scalars.answered(index, shape), byteSize);
        if (!isAligned(memory, output.datatype())) {
            destinations[position] = memory;
            return false;
        }
        arguments.bindOutput(position, index, memory.address(), byteSize, output.datatype(), shape);
        destinations[position] = memory;
        return !output.shape().isFixed();
    }

    private void check(long status) {
        if (status != 0) {
            engine.check(MemorySegment.ofAddress(status));
        }
    }

    /** Runs the model; the address of the status, 0 for success. */
    private long run(Execution execution) {
        long rows = parts != null && rowsIndependent ? arguments.rows() : 0;
        boolean divides = rows > 1 && borders.take(execution.requests(), rows);
        ExecutionMode mode = sessions.begin(arguments.inputByteSize(), divides);
        boolean hasSucceeded = false;
        try {
            long status = parts != null && mode == ExecutionMode.IN_PARTS
                    ? runInParts(parts, rows)
                    : arguments.run(sessions.session(mode), runOptions);
            hasSucceeded = status == 0;
            return status;
        } finally {
            sessions.end(hasSucceeded);
        }
    }

    /** As {@link #run}. A batch that fails in parts and not as a whole is not divided again. */
    private long runInParts(BatchParts divided, long rows) {
        long failure = divided.run(arguments, rows, borders, sessions.session(ExecutionMode.IN_PARTS), runOptions);
        if (failure == 0) {
            return 0;
        }
        engine.releaseStatus(failure);
        long status = arguments.run(sessions.session(ExecutionMode.ON_ALL_CORES), runOptions);
        rowsIndependent &= status != 0;
        return status;
    }

    /** Lets the engine allocate outputs whose guessed shape may have caused a failure. */
    private long runAgainWithoutGuesses(long failure, Execution execution) {
        int outputCount = execution.outputCount();
        try {
            check(failure);
        } catch (NativeException e) {
            // Freed by the check. The second run tells whether the guess was to blame, and reports what else was.
        }
        for (int i = 0; i < outputCount; i++) {
            if (!model.outputs().get(outputIndexes[i]).shape().isFixed()) {
                arguments.leaveOutput(i, outputIndexes[i]);
                destinations[i] = MemorySegment.NULL;
            }
        }
        long status = run(execution);
        if (status == 0) {
            for (int i = 0; i < outputCount; i++) {
                if (!model.outputs().get(outputIndexes[i]).shape().isFixed()) {
                    outputShapes.forget(outputIndexes[i]);
                }
            }
        }
        return status;
    }

    private void copyOutput(int position, MemorySegment value, Execution execution) {
        TensorDescription output = model.outputs().get(outputIndexes[position]);
        Shape shape = scalars.answered(outputIndexes[position], values.shape(value));
        if (output.datatype() == Datatype.BYTES) {
            strings.write(value, shape, execution, position);
            return;
        }
        long byteSize = shape.byteSize(output.datatype());
        MemorySegment target = destinations[position].address() != 0
                ? destinations[position]
                : execution.output(position, output.datatype(), shape, byteSize);
        MemorySegment.copy(values.data(value, byteSize), 0, target, 0, byteSize);
    }

    /** Whether the engine wrote straight into the destination. */
    private boolean isInPlace(int position) {
        MemorySegment memory = destinations[position];
        return memory.address() != 0
                && isAligned(
                        memory, model.outputs().get(outputIndexes[position]).datatype());
    }

    private static boolean isAligned(MemorySegment bytes, Datatype datatype) {
        return (bytes.address() & (datatype.byteSize() - 1)) == 0;
    }

    @Override
    public void warmUp() {
        WarmUpExecution.runTwice(model, runOptions, this::execute);
    }

    @Override
    public void trimMemory() {
        if (!trimsArenas) {
            return;
        }
        try (Arena memory = Arena.ofConfined();
                RunOptions trimming = RunOptions.trimming(engine)) {
            trim(sessions.session(ExecutionMode.ON_ALL_CORES), trimming, memory);
            trim(sessions.session(ExecutionMode.ON_A_SHARE), trimming, memory);
        }
    }

    private void trim(Session session, RunOptions trimming, Arena memory) {
        Execution zeros = new WarmUpExecution(model, memory);
        try {
            bind(zeros);
            long status = arguments.run(session, trimming);
            if (status == 0) {
                takeOutputs(zeros.outputCount()); // of a model without operators
            } else {
                engine.releaseStatus(status);
            }
        } finally {
            forget(zeros.inputCount(), zeros.outputCount());
        }
    }

    @Override
    public void close() {
        arguments.close();
        if (parts != null) {
            parts.close();
        }
        alignedCopies.close();
        runOptions.close();
        sessions.close();
        arena.close();
    }

    /** An instance's aligned copies of misaligned inputs, as large as the largest. Not thread-safe. */
    static final class AlignedCopies implements AutoCloseable {
        private static final int ALIGNMENT = 64;

        private final Arena[] arenas;
        private final MemorySegment[] copies;

        AlignedCopies(int inputs) {
            arenas = new Arena[inputs];
            copies = new MemorySegment[inputs];
        }

        /** A copy of {@code bytes} for input {@code index}; valid until the next call for it. */
        MemorySegment copy(int index, MemorySegment bytes) {
            long byteSize = bytes.byteSize();
            if (copies[index] == null || copies[index].byteSize() < byteSize) {
                if (arenas[index] != null) {
                    arenas[index].close();
                }
                arenas[index] = Arena.ofShared();
                // To the next power of two, since closing a shared arena stops all threads for a moment.
                copies[index] = arenas[index].allocate(Long.highestOneBit(byteSize) << 1, ALIGNMENT);
            }
            MemorySegment copy = copies[index].asSlice(0, byteSize);
            copy.copyFrom(bytes);
            return copy;
        }

        @Override
        public void close() {
            for (Arena arena : arenas) {
                if (arena != null) {
                    arena.close();
                }
            }
        }
    }
}
