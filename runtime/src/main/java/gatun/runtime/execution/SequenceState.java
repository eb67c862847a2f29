// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorCopy;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.scheduling.Sequence;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One sequence's states between steps, each pooled. Used by its instance's thread; closed at its end. */
final class SequenceState implements Hold {
    private final List<StateTensor> rules;
    private final BufferPool pool;
    private final @Nullable Buffer[] buffers;
    private final Shape[] shapes;

    /** How much of each buffer is the state: all of it, but for a growable one. */
    private final long[] byteSizes;

    /** States that hold nothing before {@link #reset}. */
    SequenceState(List<StateTensor> rules, BufferPool pool) {
        this.rules = rules;
        this.pool = pool;
        buffers = new Buffer[rules.size()];
        byteSizes = new long[rules.size()];
        shapes = rules.stream().map(rule -> rule.initial().shape()).toArray(Shape[]::new);
    }

    /** The states of a sequence; empty before its first step. */
    static Optional<SequenceState> of(Sequence sequence) {
        return sequence.state() instanceof SequenceState state ? Optional.of(state) : Optional.empty();
    }

    void reset() {
        for (int i = 0; i < buffers.length; i++) {
            StateTensor rule = rules.get(i);
            MemorySegment bytes = room(i, rule.initial().byteSize());
            shapes[i] = rule.initial().shape();
            if (rule.initial().data().isPresent()) {
                bytes.copyFrom(rule.initial().data().get());
            } else {
                bytes.fill((byte) 0);
            }
        }
    }

    /** The dimensions of a state, without the batch dimension. */
    Shape shape(int index) {
        return shapes[index];
    }

    MemorySegment bytes(int index) {
        return slice(buffer(index), byteSizes[index]);
    }

    private static MemorySegment slice(Buffer buffer, long byteSize) {
        return buffer.byteSize() == byteSize
                ? buffer.segment()
                : buffer.segment().asSlice(0, byteSize);
    }

    private Buffer buffer(int index) {
        Buffer buffer = buffers[index];
        if (buffer == null) {
            throw new IllegalStateException("a state was asked for before it was set");
        }
        return buffer;
    }

    /** Makes {@code buffer}, which this owns from now on, the state. */
    void swap(int index, Shape shape, Buffer buffer) {
        Buffer previous = buffers[index];
        buffers[index] = buffer;
        resize(index, shape, buffer.byteSize());
        if (previous != null && previous != buffer) {
            previous.close();
        }
    }

    /** Makes the first {@code byteSize} bytes of the state's own buffer the state. */
    void resize(int index, Shape shape, long byteSize) {
        shapes[index] = shape;
        byteSizes[index] = byteSize;
    }

    /** Grows a state to {@code byteSize} bytes with its content. Returns the old buffer, for the caller to close. */
    Optional<Buffer> reserve(int index, long byteSize) {
        Buffer small = buffer(index);
        if (small.byteSize() >= byteSize) {
            return Optional.empty();
        }
        Buffer larger = pool.take(Math.max(byteSize, 2 * small.byteSize()));
        MemorySegment held = bytes(index);
        MemorySegment.copy(held, 0, larger.segment(), 0, held.byteSize());
        buffers[index] = larger;
        return Optional.of(small);
    }

    /** The first {@code byteSize} bytes of the state's own buffer, where {@link #reserve} made room for them. */
    MemorySegment reserved(int index, long byteSize) {
        return slice(buffer(index), byteSize);
    }

    /** A buffer, the caller's, if its own does not suit {@code byteSize}. Throws UNAVAILABLE if the pool is full. */
    Optional<Buffer> spareFor(int index, long byteSize) {
        Buffer buffer = buffers[index];
        boolean growable = rules.get(index).growable();
        boolean suits = buffer != null && buffer.byteSize() >= byteSize && (buffer.byteSize() == byteSize || growable);
        if (suits) {
            return Optional.empty();
        }
        long spare = buffer != null && growable ? 2 * buffer.byteSize() : 0;
        return Optional.of(pool.take(Math.max(byteSize, spare)));
    }

    /** Copies {@code source} into {@code spare}, which this then owns, or into its own buffer. */
    void copy(int index, Shape shape, MemorySegment source, @Nullable Buffer spare) {
        if (spare != null) {
            swap(index, shape, spare);
        }
        resize(index, shape, source.byteSize());
        TensorCopy.copy(source, bytes(index));
    }

    /** The state's own buffer, or another one in its place where that does not suit the size. */
    private MemorySegment room(int index, long byteSize) {
        spareFor(index, byteSize).ifPresent(spare -> swap(index, shapes[index], spare));
        byteSizes[index] = byteSize;
        return bytes(index);
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
