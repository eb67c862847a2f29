// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.threads.CooperativeCopy;
import gatun.runtime.InferenceRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A message whose raw tensor data stays in its memory, owned until {@link #takeOwnership()}. Not thread-safe. */
public abstract class RawMessage implements InferenceCall.Message {
    /** The hold on memory that need not be given back. */
    public static final Hold NOTHING = () -> {};

    private final MemorySegment bytes;
    private Hold hold;
    private Hold reservation = NOTHING;
    private int[] ranges = new int[4];
    private int count;

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    protected RawMessage(MemorySegment bytes, Hold hold) {
        this.bytes = bytes;
        this.hold = hold;
    }

    @Override
    public final MemorySegment bytes() {
        return bytes;
    }

    /** How many entries of raw data it has. */
    public final int rawCount() {
        return count;
    }

    /** The bytes of one raw entry. */
    public final MemorySegment raw(int index) {
        return bytes.asSlice(rawStart(index), rawLength(index));
    }

    /** Where a raw entry begins in the message. */
    public final int rawStart(int index) {
        return ranges[2 * index];
    }

    /** How many bytes a raw entry has. */
    public final int rawLength(int index) {
        return ranges[2 * index + 1];
    }

    /** Adds a raw entry that was found in the message. */
    public final void addRaw(int start, int length) {
        if (2 * count == ranges.length) {
            ranges = Arrays.copyOf(ranges, 4 * count);
        }
        ranges[2 * count] = start;
        ranges[2 * count + 1] = length;
        count++;
    }

    @Override
    public final void own(Hold newHold) {
        hold = newHold;
    }

    /** Takes over the heap that is reserved for the objects read from the message, once. */
    public final void reserve(Hold heap) {
        reservation = heap;
    }

    @Override
    public final Hold takeOwnership() {
        Hold memory = hold;
        Hold heap = reservation;
        hold = NOTHING;
        reservation = NOTHING;
        if (heap.equals(NOTHING)) {
            return memory;
        }
        return () -> {
            memory.close();
            heap.close();
        };
    }

    /** Gives the memory back, unless somebody took it. */
    @Override
    public final void close() {
        takeOwnership().close();
    }

    /**
     * Aligns tensors inside a message, as engines want them. It lands so that its first tensor is right; a later one
     * moves left over tags and names that nobody needs any more, or is copied where those are too few. One request's.
     */
    public static final class RawAlignment {
        /** Bytes of the alignment that the pool gives, and that every engine is content with. */
        public static final int BEST = 64;

        private final MemorySegment message;
        private final BufferPool pool;
        private long used;

        /** For the tensors in {@code message}; copies that are needed are taken of {@code pool}. */
        public RawAlignment(MemorySegment message, BufferPool pool) {
            this.message = message;
            this.pool = pool;
        }

        /**
         * How far into a buffer to put a message, by its first bytes, so that its first tensor, in {@code field}, is
         * aligned; zero when that is too far from the start to be seen.
         */
        public static int landingOffset(ByteBuffer start, int field) {
            int position = start.position();
            int end = start.limit();
            while (position < end) {
                int tag = start.get(position++);
                if ((tag & 7) == WireReader.VARINT && tag >= 0) {
                    while (position < end && start.get(position) < 0) {
                        position++;
                    }
                    position++;
                    continue;
                }
                if ((tag & 7) != WireReader.LENGTH_DELIMITED || tag < 0) {
                    return 0;
                }
                long length = 0;
                int shift = 0;
                int next;
                do {
                    if (position >= end || shift > Integer.SIZE) {
                        return 0;
                    }
                    next = start.get(position++);
                    length |= (long) (next & 0x7f) << shift;
                    shift += 7;
                } while (next < 0);
                if (tag >>> 3 == field) {
                    return (start.position() - position) & (BEST - 1);
                }
                position = (int) Math.min(end, position + length);
            }
            return 0;
        }

        /** Aligned tensor data from {@code start} on; calls come in the order of the data. The request owns a copy. */
        public MemorySegment aligned(int start, int length, Datatype datatype, InferenceRequest request) {
            int alignment = Math.max(1, datatype.byteSize());
            long address = message.address() + start;
            if (message.isNative() && address % alignment == 0) {
                used = start + (long) length;
                return message.asSlice(start, length);
            }
            long moved = start - address % BEST;
            if (moved < used) {
                moved = start - address % alignment;
            }
            if (moved < used || !message.isNative()) {
                Buffer copy = pool.take(length);
                request.hold(copy);
                used = start + (long) length;
                CooperativeCopy.copy(message, start, copy.segment(), 0, length);
                return copy.segment();
            }
            CooperativeCopy.copy(message, start, message, moved, length);
            used = moved + length;
            return message.asSlice(moved, length);
        }
    }
}
