// SPDX-License-Identifier: Apache-2.0
package gatun.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads protobuf's wire format, field by field, and makes no objects. Every read ends at a limit, which may be that of a
 * nested message. Positions are counted in bytes from the beginning of the message. One thread uses it.
 *
 * <p>Format: <a href="https://protobuf.dev/programming-guides/encoding/">Protocol Buffers, Encoding</a>.
 */
public abstract class WireCursor {
    /** Wire type of numbers in as few bytes as they need. */
    public static final int VARINT = 0;
    /** Wire type of eight bytes. */
    public static final int FIXED64 = 1;
    /** Wire type of a length and as many bytes: strings, messages, packed numbers. */
    public static final int LENGTH_DELIMITED = 2;
    /** Wire type of a group's start; only old messages have groups. */
    public static final int GROUP_START = 3;
    /** Wire type of a group's end. */
    public static final int GROUP_END = 4;
    /** Wire type of four bytes. */
    public static final int FIXED32 = 5;

    private static final int TAG_TYPE_BITS = 3;
    private static final int MAX_VARINT_BITS = 64;
    private static final int MAX_GROUP_DEPTH = 32;

    /** Bytes of a message between two pauses. */
    private static final int PAUSE_STEP = 256 * 1024;

    /** The position of the next byte. */
    protected long at;

    private long pauseAt;

    /** The position where reading ends; at least {@link #at}. */
    protected long end;

    /** A cursor that reads from {@code at} to {@code end}. */
    protected WireCursor(long at, long end) {
        this.at = at;
        this.end = end;
        this.pauseAt = at + PAUSE_STEP;
    }

    /** Called for each 256 KiB of a message that were read, to yield. Does nothing here. */
    protected void pause() {}

    /** Goes on at {@code position}, from where to the next pause it is as far as from here. */
    final void moveTo(long position) {
        pauseAt -= Math.max(0, at - position);
        at = position;
    }

    /** The next byte, 0 to 255, of which there is one before the limit; moves on by one. */
    protected abstract int nextByte();

    /** Moves on by {@code count} bytes, which lie before the limit. */
    protected abstract void pass(long count);

    /**
     * The exception for a message that is not well formed.
     *
     * @param problem continues "the message is not valid:"
     */
    public abstract RuntimeException malformed(String problem);

    /** The number of the field of a tag. */
    public static int field(int tag) {
        return tag >>> TAG_TYPE_BITS;
    }

    /** The wire type of a tag. */
    public static int type(int tag) {
        return tag & ((1 << TAG_TYPE_BITS) - 1);
    }

    /** The tag of a field of messages, strings or packed numbers. */
    public static int delimited(int field) {
        return field << TAG_TYPE_BITS | LENGTH_DELIMITED;
    }

    /** Whether the limit is not reached. */
    public final boolean hasMore() {
        pauseIfDue();
        return at < end;
    }

    private void pauseIfDue() {
        if (at >= pauseAt) {
            pauseAt = at + PAUSE_STEP;
            pause();
        }
    }

    /** The next tag: the number of the field and, in the lowest three bits, its wire type. */
    public final int tag() {
        return tag(varint());
    }

    /** The tag of a number that was read. */
    protected final int tag(long number) {
        if (number >>> TAG_TYPE_BITS == 0 || number >>> Integer.SIZE != 0) {
            throw malformed("a field number that cannot be");
        }
        return (int) number;
    }

    /** A number of up to 64 bits. */
    public final long varint() {
        long value = 0;
        for (int shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
            if (at >= end) {
                throw malformed("a number that is cut off");
            }
            int next = nextByte();
            value |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw malformed("a number of more than 64 bits");
    }

    /** The length of a length-delimited value, which begins at the next byte and lies before the limit. */
    protected final long readLength() {
        long length = varint();
        if (length < 0 || length > end - at) {
            throw malformed("a field of " + Long.toUnsignedString(length) + " bytes where " + (end - at) + " are left");
        }
        return length;
    }

    /** Moves on by {@code count} bytes; returns the position of the first. */
    protected final long passOver(long count) {
        if (count > end - at) {
            throw malformed("a value of " + count + " bytes where " + (end - at) + " are left");
        }
        long start = at;
        pass(count);
        return start;
    }

    /** Passes over the value of a field. */
    public final void skip(int tag) {
        skip(tag, 0);
    }

    private void skip(int tag, int depth) {
        switch (type(tag)) {
            case VARINT -> varint();
            case FIXED64 -> passOver(Long.BYTES);
            case FIXED32 -> passOver(Integer.BYTES);
            case LENGTH_DELIMITED -> pass(readLength());
            case GROUP_START -> {
                if (depth == MAX_GROUP_DEPTH) {
                    throw malformed("groups nested deeper than " + MAX_GROUP_DEPTH);
                }
                int inner = tag();
                while (type(inner) != GROUP_END) {
                    skip(inner, depth + 1);
                    pauseIfDue();
                    inner = tag();
                }
                if (field(inner) != field(tag)) {
                    throw malformed("a group that ends as another");
                }
            }
            default -> throw malformed("wire type " + type(tag));
        }
    }

    /** Reads protobuf's wire format from memory. Positions are offsets in that memory. One thread uses it. */
    public abstract static class MemoryCursor extends WireCursor {
        private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfLong LONG =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        private final MemorySegment bytes;

        /** A cursor that reads from {@code at} to {@code end} of {@code bytes}. */
        protected MemoryCursor(MemorySegment bytes, long at, long end) {
            super(at, end);
            this.bytes = bytes;
        }

        @Override
        protected final int nextByte() {
            return bytes.get(ValueLayout.JAVA_BYTE, at++) & 0xff;
        }

        @Override
        protected final void pass(long count) {
            at += count;
        }

        /** The memory. */
        protected final MemorySegment bytes() {
            return bytes;
        }

        /** Reads from {@code start} to {@code end} from now on. */
        public final void window(long start, long end) {
            moveTo(start);
            this.end = end;
        }

        /** Four bytes. */
        public final int fixed32() {
            return bytes.get(INT, passOver(Integer.BYTES));
        }

        /** Eight bytes. */
        public final long fixed64() {
            return bytes.get(LONG, passOver(Long.BYTES));
        }
    }
}
