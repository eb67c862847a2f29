// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.tensorflow.TF_Output;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Map;

/**
 * Runs a model's session with arguments of its own. Inputs are read where they lie, unless the model may keep them;
 * outputs are copied once from the engine's memory to where they belong. A run ends when the time is over for which
 * somebody waits; TensorFlow's C API has no other way to stop one that has begun.
 */
final class TensorFlowInstance implements BackendInstance {
    private final Session session;
    private final Map<String, Function> functions;

    /** Shared, since short runs come on the requests' threads. */
    private final Arena arena = Arena.ofShared();

    private final Status status = new Status();

    // The arguments of the run under way.
    private final MemorySegment dims = Tensors.dims(arena);
    private final MemorySegment inputPlaces;
    private final MemorySegment inputArray;
    private final MemorySegment outputPlaces;
    private final MemorySegment outputArray;
    private final MemorySegment[] inputs;
    private final RunOptions options = new RunOptions(arena);

    TensorFlowInstance(Session session, Map<String, Function> functions) {
        this.session = session;
        this.functions = functions;
        int inputCount =
                functions.values().stream().mapToInt(Function::inputCount).max().orElse(0);
        int outputCount = functions.values().stream()
                .mapToInt(Function::outputCount)
                .max()
                .orElse(0);
        inputPlaces = TF_Output.allocateArray(Math.max(1, inputCount), arena);
        inputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, inputCount));
        outputPlaces = TF_Output.allocateArray(Math.max(1, outputCount), arena);
        outputArray = arena.allocate(ValueLayout.ADDRESS, Math.max(1, outputCount));
        inputs = new MemorySegment[inputCount];
        Arrays.fill(inputs, MemorySegment.NULL);
    }

    @Override
    public boolean isBoundToThread() {
        return false;
    }

    @Override
    public void execute(Execution execution) {
        Function function = functions.get(execution.entryPoint());
        if (function == null) {
            throw new GatunException(
                    ErrorCode.INTERNAL, "no function of the model is called '" + execution.entryPoint() + "'");
        }
        int inputCount = execution.inputCount();
        int outputCount = execution.outputCount();
        outputArray.fill((byte) 0);
        try {
            for (int i = 0; i < inputCount; i++) {
                Tensor tensor = execution.input(i);
                function.feed(tensor.spec().name(), i, inputPlaces);
                bind(i, tensor, function.keepsInputs());
            }
            for (int i = 0; i < outputCount; i++) {
                function.fetch(execution.outputName(i), i, outputPlaces);
            }
            int fedCount = function.inputCount() == inputCount
                    ? inputCount
                    : function.feedDefaults(execution, inputCount, inputPlaces, inputArray);
            execution.inferStarted();
            tensorflow_h.TF_SessionRun(
                    session.handle(),
                    options.timeout(execution.timeLeftNanos()),
                    inputPlaces,
                    inputArray,
                    fedCount,
                    outputPlaces,
                    outputArray,
                    outputCount,
                    MemorySegment.NULL,
                    0,
                    MemorySegment.NULL,
                    status.handle());
            countOutputs(outputCount);
            execution.inferEnded();
            status.check("");
            for (int i = 0; i < outputCount; i++) {
                place(i, outputArray.getAtIndex(ValueLayout.ADDRESS, i), execution);
            }
        } finally {
            release(inputCount, outputCount);
        }
    }

    private void bind(int index, Tensor tensor, boolean kept) {
        if (tensor.spec().datatype() == Datatype.BYTES) {
            inputs[index] = StringTensors.of(tensor, dims);
        } else {
            inputs[index] = kept ? Tensors.copied(tensor, dims) : Tensors.around(tensor, dims);
        }
        inputArray.setAtIndex(ValueLayout.ADDRESS, index, inputs[index]);
    }

    private void countOutputs(int count) {
        for (int i = 0; i < count; i++) {
            if (outputArray.getAtIndex(ValueLayout.ADDRESS, i).address() != 0) {
                LiveTensors.made();
            }
        }
    }

    /** Copies an output to where it belongs. */
    private static void place(int index, MemorySegment tensor, Execution execution) {
        Shape shape = Tensors.shape(tensor);
        Datatype datatype = Tensors.datatype(tensor);
        if (datatype == Datatype.INVALID) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "output '" + execution.outputName(index) + "' has elements of TensorFlow's type "
                            + Tensors.elementType(tensor) + ", which no protocol can carry");
        }
        if (datatype == Datatype.BYTES) {
            StringTensors.write(tensor, shape, execution, index);
            return;
        }
        long byteSize = shape.byteSize(datatype);
        MemorySegment target = execution.output(index, datatype, shape, byteSize);
        MemorySegment.copy(Tensors.data(tensor, byteSize), 0, target, 0, byteSize);
    }

    private void release(int inputCount, int outputCount) {
        for (int i = 0; i < outputCount; i++) {
            MemorySegment output = outputArray.getAtIndex(ValueLayout.ADDRESS, i);
            if (output.address() != 0) {
                Tensors.delete(output);
            }
        }
        for (int i = 0; i < inputCount; i++) {
            if (inputs[i].address() != 0) {
                Tensors.delete(inputs[i]);
                inputs[i] = MemorySegment.NULL;
            }
        }
    }

    @Override
    public void close() {
        status.close();
        arena.close();
    }
}
