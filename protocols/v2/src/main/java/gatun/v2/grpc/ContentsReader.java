// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.message.LimitedReader;
import gatun.grpc.message.RepeatedField;
import gatun.grpc.message.WireReader;
import gatun.memory.tensor.Datatype;
import java.lang.foreign.MemorySegment;

/**
 * Reads typed tensor data, first to see how much there is, then into the tensor's memory. No element becomes an object.
 */
final class ContentsReader {
    private static final int FP32 = 6;
    private static final int FP64 = 7;
    private static final int BYTES = 8;

    private ContentsReader() {}

    /**
     * Reads a contents message from {@code start} to {@code end} and notes its contents. Leaves the reader anywhere.
     */
    static void survey(LimitedReader in, Contents contents, int start, int end) {
        in.countRange();
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
                contents.count(field, RepeatedField.packedCount(in, elementType(field)));
            }
        }
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
        RepeatedField values = new RepeatedField(message, field, elementType(field), datatype);
        long offset = 0;
        for (int i = 0; i < contents.rangeCount(); i++) {
            offset = values.write(contents.rangeStart(i), contents.rangeEnd(i), target, offset);
        }
    }
}
