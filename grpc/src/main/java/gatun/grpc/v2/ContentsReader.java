package gatun.grpc.v2;

import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads typed tensor data, first to see how much there is, then into the tensor's memory. No element becomes an object. */
final class ContentsReader {
    private static final int FP32 = 6;
    private static final int FP64 = 7;
    private static final int BYTES = 8;

    private ContentsReader() {}

    /** Reads a contents message from {@code start} to {@code end} and notes what it holds. Leaves the reader anywhere. */
    static void survey(WireReader in, Contents contents, int start, int end) {
        contents.addRange(start, end);
        in.window(start, end);
        while (in.hasMore()) {
            int tag = in.tag();
            int field = WireReader.field(tag);
            if (field > Contents.LAST_FIELD) {
                in.skip(tag);
            } else if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                // A single element, not packed with its neighbours; of the wrong type, it is an unknown field.
                in.skip(tag);
                contents.count(field, WireReader.type(tag) == elementType(field) ? 1 : 0);
            } else if (field == BYTES) {
                int length = in.length();
                in.advance(length);
                contents.count(field, 1);
                contents.countBytes(length);
            } else {
                contents.count(field, packedCount(in, field, end));
            }
        }
    }

    private static long packedCount(WireReader in, int field, int end) {
        int length = in.length();
        int packedEnd = in.position() + length;
        long count = 0;
        if (elementType(field) == WireReader.VARINT) {
            in.window(in.position(), packedEnd);
            while (in.hasMore()) {
                in.varint();
                count++;
            }
        } else {
            int size = field == FP32 ? Float.BYTES : Double.BYTES;
            if (length % size != 0) {
                throw in.malformed("packed numbers of " + length + " bytes, which is no multiple of " + size + ",");
            }
            count = length / size;
        }
        in.window(packedEnd, end);
        return count;
    }

    private static int elementType(int field) {
        return switch (field) {
            case FP32 -> WireReader.FIXED32;
            case FP64 -> WireReader.FIXED64;
            case BYTES -> WireReader.LENGTH_DELIMITED;
            default -> WireReader.VARINT;
        };
    }

    /** Bytes of a tensor of that datatype that holds the elements of {@code field}. */
    static long byteSize(Contents contents, int field, Datatype datatype) {
        return field == BYTES
                ? contents.stringBytes() + Integer.BYTES * contents.elements(field)
                : contents.elements(field) * datatype.byteSize();
    }

    /** Writes the elements of {@code field} into a tensor's memory, which has just the size. */
    static void write(MemorySegment message, Contents contents, int field, Datatype datatype, MemorySegment target) {
        WireReader in = new WireReader(message);
        long offset = 0;
        for (int i = 0; i < contents.rangeCount(); i++) {
            int end = contents.rangeEnd(i);
            in.window(contents.rangeStart(i), end);
            while (in.hasMore()) {
                int tag = in.tag();
                int type = WireReader.type(tag);
                if (WireReader.field(tag) != field) {
                    in.skip(tag);
                } else if (type == WireReader.LENGTH_DELIMITED) {
                    int length = in.length();
                    int start = in.position();
                    offset = field == BYTES
                            ? writeString(message, start, length, target, offset)
                            : writePacked(in, message, length, field, datatype, target, offset);
                    in.window(start + length, end);
                } else if (type == elementType(field)) {
                    offset = writeElement(in, type, datatype, target, offset);
                } else {
                    in.skip(tag);
                }
            }
        }
    }

    private static long writeString(MemorySegment message, int start, int length, MemorySegment target, long offset) {
        target.set(ElementLayouts.INT32, offset, length);
        MemorySegment.copy(message, start, target, offset + Integer.BYTES, length);
        return offset + Integer.BYTES + length;
    }

    private static long writePacked(
            WireReader in,
            MemorySegment message,
            int length,
            int field,
            Datatype datatype,
            MemorySegment target,
            long offset) {
        if (elementType(field) != WireReader.VARINT) {
            MemorySegment.copy(message, in.position(), target, offset, length);
            return offset + length;
        }
        in.window(in.position(), in.position() + length);
        long next = offset;
        while (in.hasMore()) {
            next = writeElement(in, WireReader.VARINT, datatype, target, next);
        }
        return next;
    }

    private static long writeElement(WireReader in, int type, Datatype datatype, MemorySegment target, long offset) {
        switch (type) {
            case WireReader.FIXED32 -> target.set(ElementLayouts.INT32, offset, in.fixed32());
            case WireReader.FIXED64 -> target.set(ElementLayouts.INT64, offset, in.fixed64());
            default -> writeVarint(in.varint(), datatype, target, offset);
        }
        return offset + datatype.byteSize();
    }

    /** Of numbers too large for the datatype the low bytes are kept, as clients are used to. */
    private static void writeVarint(long value, Datatype datatype, MemorySegment target, long offset) {
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
