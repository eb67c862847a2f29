// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads protobuf's wire format from memory. Positions are offsets in that memory. One thread uses it. Refuses a message
 * that is not well formed with INVALID_ARGUMENT, see {@link #malformed}.
 */
public sealed class WireReader permits LimitedReader {
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

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment bytes;
    private int position;
    private int limit;

    /** A reader of all of {@code bytes}, at most 2^31 - 1. */
    public WireReader(MemorySegment bytes) {
        this.bytes = bytes;
        this.limit = Math.toIntExact(bytes.byteSize());
    }

    /** Where the next byte is read. */
    public final int position() {
        return position;
    }

    /** Where reading ends. */
    public final int limit() {
        return limit;
    }

    /** Reads from {@code start} to {@code end} from now on. */
    public final void window(int start, int end) {
        position = start;
        limit = end;
    }

    /** Whether there is more. */
    public final boolean hasMore() {
        return position < limit;
    }

    /** The next tag: the field's number and, in the lowest three bits, how it is written. */
    public final int tag() {
        long tag = varint();
        if (tag >>> TAG_TYPE_BITS == 0 || tag >>> Integer.SIZE != 0) {
            throw malformed("a field number that cannot be");
        }
        return (int) tag;
    }

    /** The field's number of a tag. */
    public static int field(int tag) {
        return tag >>> TAG_TYPE_BITS;
    }

    /** How the field of a tag is written: one of the wire types. */
    public static int type(int tag) {
        return tag & ((1 << TAG_TYPE_BITS) - 1);
    }

    /** A number of up to 64 bits. */
    public final long varint() {
        long value = 0;
        for (int shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
            if (position >= limit) {
                throw malformed("a number that is cut off");
            }
            byte next = bytes.get(ValueLayout.JAVA_BYTE, position++);
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw malformed("a number of more than 64 bits");
    }

    /** Four bytes. */
    public final int fixed32() {
        int start = advance(Integer.BYTES);
        return bytes.get(INT, start);
    }

    /** Eight bytes. */
    public final long fixed64() {
        int start = advance(Long.BYTES);
        return bytes.get(LONG, start);
    }

    /** The length of a length-delimited field, which begins at {@link #position()} and lies within the limit. */
    public final int length() {
        long length = varint();
        if (length < 0 || length > limit - position) {
            throw malformed(
                    "a field of " + Long.toUnsignedString(length) + " bytes where " + (limit - position) + " are left");
        }
        return (int) length;
    }

    /** Passes over {@code count} bytes; returns where they begin. */
    public final int advance(int count) {
        if (count > limit - position) {
            throw malformed("a value of " + count + " bytes where " + (limit - position) + " are left");
        }
        int start = position;
        position += count;
        return start;
    }

    /** Passes over the value of a field. */
    public final void skip(int tag) {
        skip(tag, 0);
    }

    private void skip(int tag, int depth) {
        switch (type(tag)) {
            case VARINT -> varint();
            case FIXED64 -> advance(Long.BYTES);
            case FIXED32 -> advance(Integer.BYTES);
            case LENGTH_DELIMITED -> advance(length());
            case GROUP_START -> {
                if (depth == MAX_GROUP_DEPTH) {
                    throw malformed("groups nested deeper than " + MAX_GROUP_DEPTH);
                }
                int inner = tag();
                while (type(inner) != GROUP_END) {
                    skip(inner, depth + 1);
                    inner = tag();
                }
                if (field(inner) != field(tag)) {
                    throw malformed("a group that ends as another");
                }
            }
            default -> throw malformed("wire type " + type(tag));
        }
    }

    /** The exception for a message that is not well formed. */
    public final GatunException malformed(String what) {
        return GatunException.invalidArgument(
                "the request message is not valid: " + what + " at byte " + position + " of " + bytes.byteSize());
    }
}
