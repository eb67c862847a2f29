// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** A message whose raw tensor data stays in its memory, owned until {@link #takeOwnership()}. Not thread-safe. */
public abstract class RawMessage implements InferenceCall.Message {
    /** The hold on memory that need not be given back. */
    public static final Hold NOTHING = () -> {};

    private final MemorySegment bytes;
    private Hold hold;

    /** The heap that is reserved for a message of many parts. */
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
}
