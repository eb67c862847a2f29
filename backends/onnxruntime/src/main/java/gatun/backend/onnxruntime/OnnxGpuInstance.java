// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.backend.onnxruntime.ModelDescription.OutputShapes;
import gatun.backend.onnxruntime.ModelDescription.ScalarTensors;
import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.backend.onnxruntime.RunArguments.ValueCache;
import gatun.bindings.NativeException;
import gatun.bindings.NativeMemory;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * A session on a GPU with its stream; owns both. Tensors are bound in clients' regions there, else in memory copied on
 * the stream; strings and outputs of unknown shape go by system memory. Stays on the thread that made it.
 */
final class OnnxGpuInstance implements BackendInstance {
    private final Engine engine;
    private final Session session;
    private final ModelDescription model;
    private final OutputShapes outputShapes;
    private final ScalarTensors scalars;
    private final StringTensors strings;
    private final OutputValues values;
    private final DeviceTransfers transfers;
    private final RunOptions runOptions;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment deviceMemory;
    private final MemorySegment binding;
    private final MemorySegment[] inputNames;
    private final MemorySegment[] outputNames;
    private final ValueCache[] inputValues;
    private final ValueCache[] outputValues;
    private final Shape[] inputShapes;
    private final List<Integer> allocated = new ArrayList<>();
    private final List<MemorySegment> owned = new ArrayList<>();

    /** @param transfers on the stream that the session was opened for; owned by this from now on */
    OnnxGpuInstance(
            Engine engine,
            Session session,
            OnnxParameters parameters,
            ModelDescription model,
            ScalarTensors scalars,
            DeviceTransfers transfers) {
        this.engine = engine;
        this.session = session;
        this.model = model;
        this.scalars = scalars;
        this.transfers = transfers;
        this.outputShapes = new OutputShapes(model);
        this.strings = new StringTensors(engine);
        this.values = new OutputValues(engine);
        this.runOptions = new RunOptions(engine, parameters.runEntries());
        deviceMemory = engine.cudaMemory(transfers.stream().device().ordinal());
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.createIoBinding(engine.api(), session.handle(), out));
            binding = out.get(ValueLayout.ADDRESS, 0);
        }
        inputNames = RunArguments.names(model.inputs(), arena);
        outputNames = RunArguments.names(model.outputs(), arena);
        inputValues = ValueCache.several(model.inputs().size(), engine, deviceMemory, arena);
        outputValues = ValueCache.several(model.outputs().size(), engine, deviceMemory, arena);
        inputShapes = new Shape[model.inputs().size()];
    }

    @Override
    public void stop() {
        runOptions.stop();
    }

    @Override
    public void execute(Execution execution) {
        runOptions.resume();
        try {
            boolean guessed = guessesShapes(execution);
            try {
                run(execution, guessed);
            } catch (NativeException e) {
                if (!guessed) {
                    throw e;
                }
                // The names of dimensions in the file may not be true: the second run tells, and reports what else was.
                run(execution, false);
                forgetGuesses(execution);
            }
        } catch (NativeException e) {
            // When it was the GPU that failed, the stream says so, and the device is out of use from now on.
            transfers.stream().synchronize();
            throw OnnxErrors.ofRun(e);
        }
    }

    private void run(Execution execution, boolean guessing) {
        try (DeviceTransfers run = transfers.begin()) {
            for (int i = 0; i < execution.inputCount(); i++) {
                bindInput(i, execution, run);
            }
            for (int i = 0; i < execution.outputCount(); i++) {
                bindOutput(i, execution, run, guessing);
            }
            execution.inferStarted();
            engine.check(OrtApi.runWithBinding(engine.api(), session.handle(), runOptions.handle(), binding));
            run.awaitKernels();
            execution.inferEnded();
            if (!allocated.isEmpty()) {
                takeAllocated(execution);
            }
            run.complete();
        } finally {
            OrtApi.clearBoundInputs(engine.api(), binding);
            OrtApi.clearBoundOutputs(engine.api(), binding);
            allocated.clear();
            owned.forEach(engine::release);
            owned.clear();
        }
    }

    /** Whether the shape of an output rests on the file's names of dimensions. */
    private boolean guessesShapes(Execution execution) {
        for (int i = 0; i < execution.outputCount(); i++) {
            int index = model.outputIndex(execution.outputName(i), i);
            if (outputShapes.isKnown(index)
                    && !model.outputs().get(index).shape().isFixed()) {
                return true;
            }
        }
        return false;
    }

    private void forgetGuesses(Execution execution) {
        for (int i = 0; i < execution.outputCount(); i++) {
            int index = model.outputIndex(execution.outputName(i), i);
            if (!model.outputs().get(index).shape().isFixed()) {
                outputShapes.forget(index);
            }
        }
    }

    private void bindInput(int position, Execution execution, DeviceTransfers run) {
        TensorSpec spec = execution.inputSpec(position);
        int index = model.inputIndex(spec.name(), position);
        Shape shape = scalars.taken(index, spec.shape());
        inputShapes[index] = shape;
        MemorySegment value;
        if (spec.datatype() == Datatype.BYTES) {
            value = strings.value(execution.input(position), shape);
            owned.add(value);
        } else {
            DeviceMemory memory = execution.input(position, run);
            value = inputValues[index].value(memory.address(), memory.byteSize(), spec.datatype(), shape);
        }
        engine.check(OrtApi.bindInput(engine.api(), binding, inputNames[index], value));
    }

    private void bindOutput(int position, Execution execution, DeviceTransfers run, boolean guessing) {
        int index = model.outputIndex(execution.outputName(position), position);
        TensorDescription output = model.outputs().get(index);
        long byteSize = -1;
        if (output.datatype().isFixedSize()
                && outputShapes.isKnown(index)
                && (guessing || output.shape().isFixed())) {
            byteSize = outputShapes.shape(index, inputShapes).byteSize(output.datatype());
        }
        if (byteSize < 0) {
            allocated.add(position);
            engine.check(OrtApi.bindOutputToDevice(engine.api(), binding, outputNames[index], engine.cpuMemory()));
            return;
        }
        Shape shape = outputShapes.shape(index, inputShapes);
        DeviceMemory memory =
                execution.output(position, output.datatype(), scalars.answered(index, shape), byteSize, run);
        MemorySegment value = outputValues[index].value(memory.address(), byteSize, output.datatype(), shape);
        engine.check(OrtApi.bindOutput(engine.api(), binding, outputNames[index], value));
    }

    /** Copies the outputs that the engine allocated, in system memory, to where they belong. */
    private void takeAllocated(Execution execution) {
        MemorySegment api = engine.api();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            MemorySegment count = scratch.allocate(ValueLayout.JAVA_LONG);
            engine.check(OrtApi.getBoundOutputValues(api, binding, engine.allocator(), out, count));
            MemorySegment array = out.get(ValueLayout.ADDRESS, 0);
            int length = Math.toIntExact(count.get(ValueLayout.JAVA_LONG, 0));
            BoundValues bound = new BoundValues(engine, array, length);
            try {
                for (int position : allocated) {
                    copy(position, bound.get(position), execution);
                }
            } finally {
                bound.close();
            }
        }
    }

    private void copy(int position, MemorySegment value, Execution execution) {
        int index = model.outputIndex(execution.outputName(position), position);
        Datatype datatype = model.outputs().get(index).datatype();
        Shape shape = scalars.answered(index, values.shape(value));
        if (datatype == Datatype.BYTES) {
            strings.write(value, shape, execution, position);
            return;
        }
        long byteSize = shape.byteSize(datatype);
        MemorySegment target = execution.output(position, datatype, shape, byteSize);
        MemorySegment.copy(values.data(value, byteSize), 0, target, 0, byteSize);
    }

    @Override
    public void warmUp() {
        WarmUpExecution.runTwice(model, runOptions, this::execute);
    }

    @Override
    public void close() {
        OrtApi.releaseIoBinding(engine.api(), binding);
        for (ValueCache cache : inputValues) {
            cache.close();
        }
        for (ValueCache cache : outputValues) {
            cache.close();
        }
        engine.releaseMemoryInfo(deviceMemory);
        runOptions.close();
        session.close();
        transfers.release();
        arena.close();
    }

    /** The outputs of a run with a binding: the engine's values, in its array. Owns both. */
    static final class BoundValues implements AutoCloseable {
        private final Engine engine;
        private final MemorySegment array;
        private final int count;

        /** @param array as GetBoundOutputValues gave it, with {@code count} values */
        BoundValues(Engine engine, MemorySegment array, int count) {
            this.engine = engine;
            this.array = NativeMemory.segment(array.address(), count * ValueLayout.ADDRESS.byteSize());
            this.count = count;
            for (int i = 0; i < count; i++) {
                LiveHandles.valueCreated();
            }
        }

        /** The value of the output that was bound as number {@code position}; valid until this is closed. */
        MemorySegment get(int position) {
            return array.getAtIndex(ValueLayout.ADDRESS, position);
        }

        @Override
        public void close() {
            for (int i = 0; i < count; i++) {
                engine.release(get(i));
            }
            engine.check(OrtApi.allocatorFree(engine.api(), engine.allocator(), array));
        }
    }
}
