// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireWriter;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Writes elements as a TensorProto's values, numbers packed, strings tagged. Without objects. */
final class ValueWriter {
    private static final byte STRING_TAG = TensorTypes.STRING_VAL << 3 | WireReader.LENGTH_DELIMITED;

    private ValueWriter() {}

    /** Bytes of the values in the field of their type: of numbers the packed run, of strings the fields themselves. */
    static long typedSize(MemorySegment elements, Datatype datatype) {
        long size = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        if (datatype == Datatype.BYTES) {
            for (long offset = 0; offset < elements.byteSize(); ) {
                long length = BytesCodec.elementByteSize(elements, offset);
                size += 1 + WireWriter.varintSize(length) + length;
                offset += BytesCodec.LENGTH_BYTES + length;
                work.worked(BytesCodec.LENGTH_BYTES);
            }
            return size;
        }
        if (datatype == Datatype.BOOL) {
            return elements.byteSize();
        }
        for (long offset = 0; offset < elements.byteSize(); offset += datatype.byteSize()) {
            size += WireWriter.varintSize(number(elements, offset, datatype));
            work.worked(datatype.byteSize());
        }
        return size;
    }

    static void writeTyped(MemorySegment elements, Datatype datatype, MemorySegment target) {
        long to = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        if (datatype == Datatype.BYTES) {
            for (long offset = 0; offset < elements.byteSize(); ) {
                long length = BytesCodec.elementByteSize(elements, offset);
                target.set(ValueLayout.JAVA_BYTE, to, STRING_TAG);
                to = putVarint(target, to + 1, length);
                CooperativeCopy.copy(elements, offset + BytesCodec.LENGTH_BYTES, target, to, length);
                to += length;
                offset += BytesCodec.LENGTH_BYTES + length;
                work.worked(BytesCodec.LENGTH_BYTES + length);
            }
            return;
        }
        for (long offset = 0; offset < elements.byteSize(); offset += datatype.byteSize()) {
            to = putVarint(target, to, number(elements, offset, datatype));
            work.worked(datatype.byteSize());
        }
    }

    static long contentSize(MemorySegment elements) {
        long size = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        for (long offset = 0; offset < elements.byteSize(); ) {
            long length = BytesCodec.elementByteSize(elements, offset);
            size += WireWriter.varintSize(length) + length;
            offset += BytesCodec.LENGTH_BYTES + length;
            work.worked(BytesCodec.LENGTH_BYTES);
        }
        return size;
    }

    static void writeContent(MemorySegment elements, MemorySegment target) {
        long to = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        for (long offset = 0; offset < elements.byteSize(); ) {
            long length = BytesCodec.elementByteSize(elements, offset);
            to = putVarint(target, to, length);
            offset += BytesCodec.LENGTH_BYTES + length;
            work.worked(BytesCodec.LENGTH_BYTES);
        }
        for (long offset = 0; offset < elements.byteSize(); ) {
            long length = BytesCodec.elementByteSize(elements, offset);
            CooperativeCopy.copy(elements, offset + BytesCodec.LENGTH_BYTES, target, to, length);
            to += length;
            offset += BytesCodec.LENGTH_BYTES + length;
            work.worked(BytesCodec.LENGTH_BYTES + length);
        }
    }

    private static long number(MemorySegment elements, long offset, Datatype datatype) {
        return switch (datatype) {
            case BOOL -> elements.get(ValueLayout.JAVA_BYTE, offset) == 0 ? 0 : 1;
            case INT8, QINT8, INT4 -> elements.get(ValueLayout.JAVA_BYTE, offset);
            case UINT8, QUINT8, UINT4 -> elements.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
            case INT16, QINT16 -> elements.get(ElementLayouts.INT16, offset);
            case UINT16, QUINT16, FP16, BF16 -> elements.get(ElementLayouts.INT16, offset) & 0xffff;
            case INT32, QINT32 -> elements.get(ElementLayouts.INT32, offset);
            case UINT32 -> Integer.toUnsignedLong(elements.get(ElementLayouts.INT32, offset));
            case INT64, UINT64 -> elements.get(ElementLayouts.INT64, offset);
            default -> throw new IllegalArgumentException(datatype + " is no integer");
        };
    }

    /** Writes a number in as few bytes as it needs; returns where it ends. */
    static long putVarint(MemorySegment target, long offset, long value) {
        long to = offset;
        long left = value;
        while ((left & ~0x7fL) != 0) {
            target.set(ValueLayout.JAVA_BYTE, to++, (byte) (left | 0x80));
            left >>>= 7;
        }
        target.set(ValueLayout.JAVA_BYTE, to++, (byte) left);
        return to;
    }
}
