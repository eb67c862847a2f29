package gatun.runtime.execution;

import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.Hold;
import gatun.memory.Shape;
import gatun.memory.TensorCopy;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.scheduling.Sequence;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The states of one sequence, each in a pooled buffer of its own, from one step to the next. Used by the thread of the sequence's instance
 * during a run; closed by whoever ends the sequence.
 */
final class SequenceState implements Hold {
    private final List<StateTensor> rules;
    private final BufferPool pool;
    private final @Nullable Buffer[] buffers;
    private final Shape[] shapes;

    /** States that hold nothing before {@link #reset}. */
    SequenceState(List<StateTensor> rules, BufferPool pool) {
        this.rules = rules;
        this.pool = pool;
        buffers = new Buffer[rules.size()];
        shapes = rules.stream().map(StateTensor::initialShape).toArray(Shape[]::new);
    }

    /** What a sequence keeps; empty before its first step. */
    static Optional<SequenceState> of(Sequence sequence) {
        return sequence.state() instanceof SequenceState state ? Optional.of(state) : Optional.empty();
    }

    /** Gives each state its initial value. */
    void reset() {
        for (int i = 0; i < buffers.length; i++) {
            StateTensor rule = rules.get(i);
            MemorySegment bytes = room(i, rule.initialByteSize());
            shapes[i] = rule.initialShape();
            if (rule.initialData().isPresent()) {
                bytes.copyFrom(rule.initialData().get());
            } else {
                bytes.fill((byte) 0);
            }
        }
    }

    /** The dimensions of a state, without the batch dimension. */
    Shape shape(int index) {
        return shapes[index];
    }

    /** The bytes of a state. */
    MemorySegment bytes(int index) {
        Buffer buffer = buffers[index];
        if (buffer == null) {
            throw new IllegalStateException("a state was asked for before it was set");
        }
        return buffer.segment();
    }

    /** Makes {@code buffer}, which this owns from now on, the state. */
    void swap(int index, Shape shape, Buffer buffer) {
        Buffer previous = buffers[index];
        buffers[index] = buffer;
        shapes[index] = shape;
        if (previous != null && previous != buffer) {
            previous.close();
        }
    }

    /** Makes the state a copy of {@code source}. */
    void copy(int index, Shape shape, MemorySegment source) {
        TensorCopy.copy(source, room(index, source.byteSize()));
        shapes[index] = shape;
    }

    /** The state's own buffer when it has that size, or else another one in its place. */
    private MemorySegment room(int index, long byteSize) {
        Buffer buffer = buffers[index];
        if (buffer == null || buffer.byteSize() != byteSize) {
            Buffer next = pool.take(byteSize);
            swap(index, shapes[index], next);
            return next.segment();
        }
        return buffer.segment();
    }

    @Override
    public void close() {
        for (int i = 0; i < buffers.length; i++) {
            Buffer buffer = buffers[i];
            buffers[i] = null;
            if (buffer != null) {
                buffer.close();
            }
        }
    }
}
