// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/** A run on zeros, with open dimensions of size 1, for nobody. Borrows its memory from the arena. */
final class WarmUpExecution implements Execution {
    private static final int ALIGNMENT = 64;

    /** The text 0, which also models that parse numbers can read; for an empty text they log errors. */
    private static final byte[] ZERO = {'0'};

    private final ModelDescription model;
    private final Arena arena;
    private final Runnable onInfer;

    private WarmUpExecution(ModelDescription model, Arena arena, Runnable onInfer) {
        this.model = model;
        this.arena = arena;
        this.onInfer = onInfer;
    }

    /** A run that is to end before its first operator. */
    WarmUpExecution(ModelDescription model, Arena arena) {
        this(model, arena, () -> {});
    }

    /** Runs an instance once for values and pages, and once as requests do, until {@code options} stop. */
    static void runTwice(ModelDescription model, RunOptions options, Consumer<Execution> instance) {
        options.forgetStop();
        try (Arena memory = Arena.ofConfined()) {
            for (int i = 0; i < 2 && !options.isStopped(); i++) {
                instance.accept(new WarmUpExecution(model, memory, options::stopAgain));
            }
        } catch (GatunException e) {
            // Zeros and empty strings need not make sense to the model, and a GPU that failed is told of by the first
            // request; what could be warmed is warm.
        }
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
        MemorySegment bytes = input.datatype() == Datatype.BYTES
                ? texts(shape.elementCount())
                : arena.allocate(shape.byteSize(input.datatype()), ALIGNMENT);
        return new Tensor(new TensorSpec(input.name(), input.datatype(), shape), bytes);
    }

    private MemorySegment texts(long count) {
        long elementBytes = (long) BytesCodec.LENGTH_BYTES + ZERO.length;
        MemorySegment texts = arena.allocate(count * elementBytes, ALIGNMENT);
        for (long i = 0; i < count; i++) {
            texts.set(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), i * elementBytes, ZERO.length);
            MemorySegment.copy(
                    ZERO, 0, texts, ValueLayout.JAVA_BYTE, i * elementBytes + BytesCodec.LENGTH_BYTES, ZERO.length);
        }
        return texts;
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
        onInfer.run();
    }

    @Override
    public void inferEnded() {
        // Nobody asks how long a warm-up takes.
    }
}
