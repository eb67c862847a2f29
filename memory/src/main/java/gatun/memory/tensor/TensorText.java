// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.lang.foreign.MemorySegment;

/** Formats a tensor for people: name, datatype, shape and its first elements, in a bounded text. Stateless. */
final class TensorText {
    private static final int ELEMENT_LIMIT = 8;
    private static final int LETTER_LIMIT = 40;
    private static final String MORE = "...";

    private TensorText() {}

    static String of(Tensor tensor) {
        StringBuilder text = new StringBuilder().append(tensor.spec()).append(": ");
        if (tensor.device().isPresent()) {
            return text.append("on a GPU").toString();
        }
        if (tensor.isShared()) {
            return text.append("in memory that a client can write").toString();
        }
        int head = text.length();
        try {
            elements(text, tensor.spec().datatype(), tensor.bytes());
        } catch (IllegalStateException e) {
            // The memory's scope has ended; or this is not the thread that may read it.
            text.setLength(head);
            text.append("in memory that cannot be read: ").append(e.getMessage());
        }
        return text.toString();
    }

    private static void elements(StringBuilder text, Datatype datatype, MemorySegment bytes) {
        if (datatype == Datatype.INVALID) {
            text.append(bytes.byteSize()).append(" bytes");
            return;
        }
        long offset = 0;
        for (int i = 0; offset < bytes.byteSize(); i++) {
            text.append(i == 0 ? "" : ", ");
            if (i == ELEMENT_LIMIT || !isWhole(datatype, bytes, offset)) {
                text.append(MORE);
                return;
            }
            if (datatype.isFixedSize()) {
                text.append(ElementValues.text(datatype, bytes, offset));
                offset += datatype.byteSize();
            } else {
                long byteSize = BytesCodec.elementByteSize(bytes, offset);
                string(text, bytes, offset + BytesCodec.LENGTH_BYTES, byteSize);
                offset += BytesCodec.LENGTH_BYTES + byteSize;
            }
        }
    }

    /** Whether the bytes do not end within the element at {@code offset}. */
    private static boolean isWhole(Datatype datatype, MemorySegment bytes, long offset) {
        long available = bytes.byteSize() - offset;
        if (datatype.isFixedSize()) {
            return available >= datatype.byteSize();
        }
        return available >= BytesCodec.LENGTH_BYTES
                && available - BytesCodec.LENGTH_BYTES
                        >= Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, offset));
    }

    private static void string(StringBuilder text, MemorySegment bytes, long offset, long byteSize) {
        String value = BytesCodec.text(bytes, offset, Math.min(byteSize, LETTER_LIMIT));
        text.append('"').append(value.replaceAll("\\p{Cntrl}", "?")).append('"');
        if (byteSize > LETTER_LIMIT) {
            text.append(MORE);
        }
    }
}
