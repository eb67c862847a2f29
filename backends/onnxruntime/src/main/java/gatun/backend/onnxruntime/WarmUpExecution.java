package gatun.backend.onnxruntime;

import gatun.memory.Datatype;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.runtime.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A run on zeros and empty strings, with open dimensions of size 1, to pay first-call costs. Borrows its memory from the arena. */
final class WarmUpExecution implements Execution {
    private static final int ALIGNMENT = 64;

    /** What an empty string takes: its length word. */
    private static final int EMPTY_STRING_BYTES = Integer.BYTES;

    private final ModelDescription model;
    private final Arena arena;

    WarmUpExecution(ModelDescription model, Arena arena) {
        this.model = model;
        this.arena = arena;
    }

    @Override
    public int inputCount() {
        return model.inputs().size();
    }

    @Override
    public Tensor input(int index) {
        TensorDescription input = model.inputs().get(index);
        long[] dims = input.shape().toArray();
        for (int i = 0; i < dims.length; i++) {
            dims[i] = dims[i] == Shape.VARIABLE ? 1 : dims[i];
        }
        Shape shape = Shape.of(dims);
        long byteSize = input.datatype() == Datatype.BYTES
                ? shape.elementCount() * EMPTY_STRING_BYTES
                : shape.byteSize(input.datatype());
        return new Tensor(new TensorSpec(input.name(), input.datatype(), shape), arena.allocate(byteSize, ALIGNMENT));
    }

    @Override
    public int outputCount() {
        return model.outputs().size();
    }

    @Override
    public String outputName(int index) {
        return model.outputs().get(index).name();
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        return arena.allocate(byteSize, ALIGNMENT);
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        throw new IllegalStateException("this engine never answers with an input");
    }

    @Override
    public void inferStarted() {
        // Nobody asks how long a warm-up takes.
    }

    @Override
    public void inferEnded() {
        // Nobody asks how long a warm-up takes.
    }
}
