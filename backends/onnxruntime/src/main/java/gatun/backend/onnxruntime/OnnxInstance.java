// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeException;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * Sessions with everything that a run needs prepared: names, arrays of pointers, and the values of addresses that come
 * again. Inputs are read where they lie. Outputs are written where they belong when their shape is known beforehand,
 * and copied once otherwise. Gives the sessions back.
 */
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
    private final MemorySegment[] inputNames;
    private final MemorySegment[] outputNames;
    private final ValueCache[] inputValues;
    private final ValueCache[] outputValues;

    // The arguments of the run under way.
    private final MemorySegment inputNameArray;
    private final MemorySegment inputArray;
    private final MemorySegment outputNameArray;
    private final MemorySegment outputArray;
    private final Shape[] inputShapes;
    /** Values of this run only, to be released after it; NULL where the value is a cache's. */
    private final MemorySegment[] inputOwned;

    /**
     * Outputs that the engine allocated in this run, to be released after it; NULL where it wrote into memory of ours.
     */
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
        int inputs = model.inputs().size();
        int outputs = model.outputs().size();
        inputNames = names(model.inputs());
        outputNames = names(model.outputs());
        inputValues = caches(inputs);
        outputValues = caches(outputs);
        inputNameArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputs));
        inputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputs));
        outputNameArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputs));
        outputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputs));
        inputShapes = new Shape[inputs];
        inputOwned = new MemorySegment[inputs];
        outputOwned = new MemorySegment[outputs];
        destinations = new MemorySegment[outputs];
        outputIndexes = new int[outputs];
        Arrays.fill(inputOwned, MemorySegment.NULL);
        Arrays.fill(outputOwned, MemorySegment.NULL);
        Arrays.fill(destinations, MemorySegment.NULL);
    }

    private MemorySegment[] names(List<TensorDescription> tensors) {
        return tensors.stream().map(tensor -> arena.allocateFrom(tensor.name())).toArray(MemorySegment[]::new);
    }

    private ValueCache[] caches(int count) {
        ValueCache[] caches = new ValueCache[count];
        for (int i = 0; i < count; i++) {
            caches[i] = new ValueCache(engine, engine.cpuMemory(), arena);
        }
        return caches;
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
        int inputCount = execution.inputCount();
        int outputCount = execution.outputCount();
        runOptions.resume();
        try {
            for (int i = 0; i < inputCount; i++) {
                bindInput(i, execution.input(i));
            }
            boolean guessed = false;
            for (int i = 0; i < outputCount; i++) {
                guessed |= bindOutput(i, execution);
            }
            execution.inferStarted();
            long status = run(inputCount, outputCount);
            if (guessed && status != 0) {
                status = runAgainWithoutGuesses(status, inputCount, outputCount);
            }
            check(status);
            execution.inferEnded();
            for (int i = 0; i < outputCount; i++) {
                if (!isInPlace(i)) {
                    outputOwned[i] = outputArray.getAtIndex(ValueLayout.ADDRESS, i);
                    LiveHandles.valueCreated();
                }
            }
            for (int i = 0; i < outputCount; i++) {
                if (outputOwned[i].address() != 0) {
                    copyOutput(i, outputOwned[i], execution);
                }
            }
        } catch (NativeException e) {
            throw OnnxErrors.ofRun(e);
        } finally {
            release(inputOwned, inputCount);
            release(outputOwned, outputCount);
            Arrays.fill(destinations, 0, outputCount, MemorySegment.NULL);
        }
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
        MemorySegment value;
        if (datatype == Datatype.BYTES) {
            value = strings.value(tensor, shape);
            inputOwned[position] = value;
        } else {
            MemorySegment bytes = tensor.bytes();
            if (!isAligned(bytes, datatype)) {
                bytes = alignedCopies.copy(index, bytes);
            }
            value = inputValues[index].value(bytes.address(), bytes.byteSize(), datatype, shape);
        }
        inputNameArray.setAtIndex(ValueLayout.ADDRESS, position, inputNames[index]);
        inputArray.setAtIndex(ValueLayout.ADDRESS, position, value);
    }

    /**
     * Gives the engine the memory for an output if it can be known; answers whether that rests on the file's dimension
     * names.
     */
    private boolean bindOutput(int position, Execution execution) {
        int index = model.outputIndex(execution.outputName(position), position);
        outputIndexes[position] = index;
        outputNameArray.setAtIndex(ValueLayout.ADDRESS, position, outputNames[index]);
        outputArray.setAtIndex(ValueLayout.ADDRESS, position, MemorySegment.NULL);
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
        outputArray.setAtIndex(
                ValueLayout.ADDRESS,
                position,
                outputValues[index].value(memory.address(), byteSize, output.datatype(), shape));
        destinations[position] = memory;
        return !output.shape().isFixed();
    }

    private void check(long status) {
        if (status != 0) {
            engine.check(MemorySegment.ofAddress(status));
        }
    }

    /** Runs the model; the address of the status, 0 for success. */
    private long run(int inputCount, int outputCount) {
        try {
            return OrtApi.run(
                    engine.api(),
                    sessions.begin().handle(),
                    runOptions.handle(),
                    inputNameArray,
                    inputArray,
                    inputCount,
                    outputNameArray,
                    outputCount,
                    outputArray);
        } finally {
            sessions.end();
        }
    }

    /**
     * After a failure that a wrong guess of an output's shape may have caused: lets the engine allocate those outputs
     * itself.
     */
    private long runAgainWithoutGuesses(long failure, int inputCount, int outputCount) {
        try {
            check(failure);
        } catch (NativeException e) {
            // Freed by the check. The second run tells whether the guess was to blame, and reports what else was.
        }
        for (int i = 0; i < outputCount; i++) {
            if (!model.outputs().get(outputIndexes[i]).shape().isFixed()) {
                outputArray.setAtIndex(ValueLayout.ADDRESS, i, MemorySegment.NULL);
                destinations[i] = MemorySegment.NULL;
            }
        }
        long status = run(inputCount, outputCount);
        if (status == 0) {
            for (int i = 0; i < outputCount; i++) {
                if (!model.outputs().get(outputIndexes[i]).shape().isFixed()) {
                    outputShapes.forget(outputIndexes[i]);
                }
            }
        }
        return status;
    }

    /** Copies an output that the engine allocated to where it belongs. */
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
        try (Arena memory = Arena.ofConfined()) {
            // Once to make values and pages, once on the path that requests take.
            for (int i = 0; i < 2; i++) {
                execute(new WarmUpExecution(model, memory));
            }
        } catch (GatunException e) {
            // Zeros and empty strings need not make sense to the model; what could be warmed is warm.
        }
    }

    @Override
    public void close() {
        for (ValueCache cache : inputValues) {
            cache.close();
        }
        for (ValueCache cache : outputValues) {
            cache.close();
        }
        alignedCopies.close();
        runOptions.close();
        sessions.close();
        arena.close();
    }
}
