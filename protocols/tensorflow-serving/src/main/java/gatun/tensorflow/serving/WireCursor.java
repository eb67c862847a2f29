// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;

/**
 * Reads protobuf's wire format of examples from native memory of any size. Positions are offsets in that memory, and
 * nothing is made of what is read. Not thread-safe.
 */
final class WireCursor {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH_DELIMITED = 2;
    static final int FIXED32 = 5;

    private static final int GROUP_START = 3;
    private static final int GROUP_END = 4;
    private static final int TYPE_BITS = 3;
    private static final int MAX_VARINT_BITS = 64;
    private static final int MAX_GROUP_DEPTH = 32;

    private final MemorySegment bytes;
    private final long example;
    private long position;
    private long limit;

    /** Reads from {@code start} to {@code end} of {@code bytes}, where the example of that number lies. */
    WireCursor(MemorySegment bytes, long example, long start, long end) {
        this.bytes = bytes;
        this.example = example;
        this.position = start;
        this.limit = end;
    }

    long position() {
        return position;
    }

    long limit() {
        return limit;
    }

    boolean hasMore() {
        return position < limit;
    }

    /** Reads from {@code start} to {@code end} from now on. */
    void window(long start, long end) {
        position = start;
        limit = end;
    }

    /** The next tag: the field's number and, in the lowest three bits, its wire type. */
    int tag() {
        long tag = varint();
        if (tag >>> TYPE_BITS == 0 || tag >>> Integer.SIZE != 0) {
            throw malformed("a field number that cannot be");
        }
        return (int) tag;
    }

    static int field(int tag) {
        return tag >>> TYPE_BITS;
    }

    static int type(int tag) {
        return tag & ((1 << TYPE_BITS) - 1);
    }

    /** The tag of a field of messages, strings or packed numbers. */
    static int delimited(int field) {
        return field << TYPE_BITS | LENGTH_DELIMITED;
    }

    long varint() {
        long value = 0;
        for (int shift = 0; shift < MAX_VARINT_BITS; shift += 7) {
            if (position >= limit) {
                throw malformed("a number that is cut off");
            }
            byte next = bytes.get(JAVA_BYTE, position++);
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw malformed("a number of more than 64 bits");
    }

    float fp32() {
        return bytes.get(ElementLayouts.FP32, advance(Float.BYTES));
    }

    /** The length of a length-delimited value, which lies within the limit. */
    long length() {
        long length = varint();
        if (length < 0 || length > limit - position) {
            throw malformed("a field that is cut off");
        }
        return length;
    }

    /** Passes over {@code count} bytes; returns where they begin. */
    long advance(long count) {
        if (count > limit - position) {
            throw malformed("a value that is cut off");
        }
        long start = position;
        position += count;
        return start;
    }

    /** Passes over the value of a field. */
    void skip(int tag) {
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

    /** The failure of an example that is no such message. */
    GatunException malformed(String what) {
        return GatunException.invalidArgument("Could not parse example input " + example + ": " + what);
    }
}
