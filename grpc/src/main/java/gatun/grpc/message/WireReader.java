// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.threads.CooperativeYield;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.WireCursor.MemoryCursor;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.util.Objects;

/** Reads a request's message, up to 2<sup>31</sup> - 1 bytes. Throws {@link #malformed}. Not thread-safe. */
public sealed class WireReader extends MemoryCursor permits WireReader.LimitedReader {
    /** A reader of all of {@code bytes}, at most 2^31 - 1. */
    public WireReader(MemorySegment bytes) {
        super(bytes, 0, bytes.byteSize());
        Objects.checkIndex(bytes.byteSize(), 1L << 31);
    }

    /** The position of the next byte. */
    public final int position() {
        return (int) at;
    }

    /** The position where reading ends. */
    public final int limit() {
        return (int) end;
    }

    /** The length of a length-delimited field, which begins at {@link #position()} and lies within the limit. */
    public final int length() {
        return (int) readLength();
    }

    /** Passes over {@code count} bytes; returns the position of the first. */
    public final int advance(int count) {
        return (int) passOver(count);
    }

    @Override
    protected final void pause() {
        CooperativeYield.now();
    }

    /** The exception for a message that is not well formed. */
    @Override
    public final GatunException malformed(String problem) {
        return GatunException.invalidArgument(
                "the request message is not valid: " + problem + " at byte " + at + " of " + bytes().byteSize());
    }

    /** The number in {@code field} of the message at {@code start}, 0 without it; leaves the reader behind that. */
    public final long numberIn(int start, int length, int field) {
        int limit = limit();
        long number = 0;
        window(start, start + length);
        while (hasMore()) {
            int tag = tag();
            if (tag == (field << 3 | VARINT)) {
                number = varint();
            } else {
                skip(tag);
            }
        }
        window(start + length, limit);
        return number;
    }

    /**
     * Reads a request's message and counts the heap of texts, tensors, parameters and dimensions before each is made:
     * many small fields are refused at the limit. Messages that need more heap than usual reserve it. For one thread.
     */
    public static final class LimitedReader extends WireReader {
        // Heap taken by the objects of one text, input and so on, in bytes, rounded up.
        private static final int TEXT_HEAP = 64;
        private static final int INPUT_HEAP = 512;
        private static final int OUTPUT_HEAP = 256;
        private static final int PARAMETER_HEAP = 192;
        private static final int NUMBER_HEAP = 2 * Long.BYTES;

        private final RequestLimits limits;
        private final HeapBudget heap;
        private long textsByteSize;
        private int inputs;
        private int outputs;
        private int parameters;
        private long dimensions;
        private int ranges;
        private long heapByteSize;
        private long reservedByteSize = HeapBudget.FREE_BYTE_SIZE;
        private Hold reservation = RawMessage.NOTHING;

        /** A reader of all of {@code bytes}, at most 2^31 - 1, of which {@code limits} allow so much. */
        public LimitedReader(MemorySegment bytes, RequestLimits limits, HeapBudget heap) {
            super(bytes);
            this.limits = limits;
            this.heap = heap;
        }

        /**
         * A text of the message, perhaps of {@code texts}; {@code what} names it for the client. Throws
         * RESOURCE_EXHAUSTED if it or all texts together are too long, INVALID_ARGUMENT when it is not UTF-8.
         */
        public String text(TextCache texts, int start, int length, String what) {
            countText(length, what);
            try {
                return texts.text(bytes(), start, length);
            } catch (CharacterCodingException e) {
                throw malformed("a string that is not UTF-8");
            }
        }

        /** Counts a text that the caller makes. Throws {@link GatunException} RESOURCE_EXHAUSTED if too long. */
        public void countText(int byteSize, String what) {
            limits.requireText(byteSize, what);
            textsByteSize += byteSize;
            limits.requireTexts(textsByteSize);
            needHeap(TEXT_HEAP + 2L * byteSize);
        }

        /** Counts one more input. Throws {@link GatunException} RESOURCE_EXHAUSTED for too many. */
        public void countInput() {
            limits.requireTensors(++inputs, "inputs");
            needHeap(INPUT_HEAP);
        }

        /** Counts one more requested output. Throws {@link GatunException} RESOURCE_EXHAUSTED for too many. */
        public void countOutput() {
            limits.requireTensors(++outputs, "outputs");
            needHeap(OUTPUT_HEAP);
        }

        /** Counts one more parameter, of the request or a tensor. Throws {@link GatunException} RESOURCE_EXHAUSTED. */
        public void countParameter() {
            limits.requireParameters(++parameters);
            needHeap(PARAMETER_HEAP);
        }

        /** Counts one more dimension, of all shapes together. Throws {@link GatunException} RESOURCE_EXHAUSTED. */
        public void countDimension() {
            limits.requireDimensions(++dimensions);
            needHeap(NUMBER_HEAP);
        }

        /** Counts one more range whose place is remembered: raw or typed data. Throws RESOURCE_EXHAUSTED. */
        public void countRange() {
            limits.requireTensors(++ranges, "pieces of tensor data");
            needHeap(NUMBER_HEAP);
        }

        /** Counts other objects that the caller makes of the message. Throws as {@link HeapBudget#reserve}. */
        public void countHeap(long byteSize) {
            needHeap(byteSize);
        }

        private void needHeap(long byteSize) {
            heapByteSize += byteSize;
            if (heapByteSize > reservedByteSize) {
                // Twice as much, so that a long message asks seldom.
                Hold more = heap.reserve(2 * heapByteSize);
                reservation.close();
                reservation = more;
                reservedByteSize = 2 * heapByteSize;
            }
        }

        /** Hands over the heap reserved for what was read; the caller closes it when that is garbage. */
        public Hold takeReservation() {
            Hold taken = reservation;
            reservation = RawMessage.NOTHING;
            return taken;
        }
    }
}
