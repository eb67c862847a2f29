// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.threads.CooperativeCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A repeated field of numbers or strings as tensor elements, without objects for them. Not thread-safe. */
public final class RepeatedField {
    private final MemorySegment message;
    private final WireReader in;
    private final int field;
    private final int elementType;
    private final Datatype datatype;

    /** A field of elements of a wire type, LENGTH_DELIMITED for strings, which are written as {@code datatype}. */
    public RepeatedField(MemorySegment message, int field, int elementType, Datatype datatype) {
        this.message = message;
        this.in = new WireReader(message);
        this.field = field;
        this.elementType = elementType;
        this.datatype = datatype;
    }

    /** The number of {@code elementType} values in the packed field at {@code in}, which is left behind it. */
    public static long packedCount(WireReader in, int elementType) {
        int length = in.length();
        int limit = in.limit();
        int packedEnd = in.position() + length;
        long count = 0;
        if (elementType == WireReader.VARINT) {
            in.window(in.position(), packedEnd);
            while (in.hasMore()) {
                in.varint();
                count++;
            }
        } else {
            int size = elementType == WireReader.FIXED32 ? Integer.BYTES : Long.BYTES;
            if (length % size != 0) {
                throw in.malformed("packed numbers of " + length + " bytes, which is no multiple of " + size + ",");
            }
            count = length / size;
        }
        in.window(packedEnd, limit);
        return count;
    }

    /** Writes a field's elements, {@code start} to {@code end}, from {@code first} on; returns where they end. */
    public long write(int start, int end, MemorySegment target, long first) {
        long offset = first;
        in.window(start, end);
        while (in.hasMore()) {
            int tag = in.tag();
            int type = WireReader.type(tag);
            if (WireReader.field(tag) != field) {
                in.skip(tag);
            } else if (type == WireReader.LENGTH_DELIMITED) {
                int length = in.length();
                int valueStart = in.position();
                offset = elementType == WireReader.LENGTH_DELIMITED
                        ? writeString(valueStart, length, target, offset)
                        : writePacked(length, target, offset);
                in.window(valueStart + length, end);
            } else if (type == elementType) {
                offset = writeElement(target, offset);
            } else {
                in.skip(tag);
            }
        }
        return offset;
    }

    private long writeString(int start, int length, MemorySegment target, long offset) {
        target.set(ElementLayouts.INT32, offset, length);
        CooperativeCopy.copy(message, start, target, offset + Integer.BYTES, length);
        return offset + Integer.BYTES + length;
    }

    private long writePacked(int length, MemorySegment target, long offset) {
        if (elementType != WireReader.VARINT) {
            CooperativeCopy.copy(message, in.position(), target, offset, length);
            return offset + length;
        }
        in.window(in.position(), in.position() + length);
        long next = offset;
        while (in.hasMore()) {
            next = writeElement(target, next);
        }
        return next;
    }

    private long writeElement(MemorySegment target, long offset) {
        switch (elementType) {
            case WireReader.FIXED32 -> target.set(ElementLayouts.INT32, offset, in.fixed32());
            case WireReader.FIXED64 -> target.set(ElementLayouts.INT64, offset, in.fixed64());
            default -> writeVarint(in.varint(), target, offset);
        }
        return offset + datatype.byteSize();
    }

    /** Of numbers too large for the datatype the low bytes are kept, as clients are used to. */
    private void writeVarint(long value, MemorySegment target, long offset) {
        switch (datatype.byteSize()) {
            case Byte.BYTES -> {
                byte low = datatype == Datatype.BOOL ? (byte) (value != 0 ? 1 : 0) : (byte) value;
                target.set(ValueLayout.JAVA_BYTE, offset, low);
            }
            case Short.BYTES -> target.set(ElementLayouts.INT16, offset, (short) value);
            case Integer.BYTES -> target.set(ElementLayouts.INT32, offset, (int) value);
            default -> target.set(ElementLayouts.INT64, offset, value);
        }
    }
}
