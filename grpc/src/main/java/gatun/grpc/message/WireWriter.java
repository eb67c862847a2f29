// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.grpc.frames.OutboundMessage;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes protobuf's wire format to the heap. One thread uses it. */
public final class WireWriter {
    /** Enough for a response with two tensors of short names. */
    private static final int FIRST_SIZE = 80;

    private static final int MAX_VARINT_SIZE = 10;

    private byte[] bytes = new byte[FIRST_SIZE];
    private int size;

    /** An empty writer. */
    public WireWriter() {}

    /** How much is written. */
    public int size() {
        return size;
    }

    /** The written bytes; later writes may move to other memory. */
    public MemorySegment segment() {
        return MemorySegment.ofArray(bytes).asSlice(0, size);
    }

    /** The array of which the first {@link #size()} bytes are written; later writes may move to another. */
    byte[] bytes() {
        return bytes;
    }

    /** A copy of the written bytes. */
    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    /** A length-delimited field's tag and length. */
    public void header(int field, long length) {
        varint((long) field << 3 | WireReader.LENGTH_DELIMITED);
        varint(length);
    }

    /** A string field; nothing when it is empty. */
    public void text(int field, String text) {
        if (!text.isEmpty()) {
            header(field, Utf8.length(text));
            raw(text);
        }
    }

    /** A text without a header. */
    public void raw(String text) {
        ensure(Utf8.length(text));
        size = Utf8.write(text, bytes, size);
    }

    /** A bytes field. */
    public void bytes(int field, byte[] value) {
        header(field, value.length);
        ensure(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    /** Appends the bytes of another writer. */
    public void raw(WireWriter other) {
        ensure(other.size);
        System.arraycopy(other.bytes, 0, bytes, size, other.size);
        size += other.size;
    }

    /** A number, in as few bytes as it needs. */
    public void varint(long value) {
        ensure(MAX_VARINT_SIZE);
        long left = value;
        while ((left & ~0x7fL) != 0) {
            bytes[size++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[size++] = (byte) left;
    }

    /** Eight bytes. */
    public void fixed64(long value) {
        ensure(Long.BYTES);
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            bytes[size++] = (byte) (value >>> shift);
        }
    }

    /** Bytes that a number needs. */
    public static int varintSize(long value) {
        return (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
    }

    /** Bytes that a string field with a field number below 16 needs; 0 when it is empty. */
    public static int textSize(String text) {
        if (text.isEmpty()) {
            return 0;
        }
        int length = Utf8.length(text);
        return 1 + varintSize(length) + length;
    }

    private void ensure(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }

    /** Strings as UTF-8 without an array for each: nearly all are ASCII. */
    public static final class Utf8 {
        private static final int ASCII_LIMIT = 0x80;

        private Utf8() {}

        /** Bytes that a text needs. */
        public static int length(String text) {
            return isAscii(text) ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
        }

        /** Writes a text to an array that has room; returns where it ends. */
        public static int write(String text, byte[] target, int start) {
            if (!isAscii(text)) {
                byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
                System.arraycopy(encoded, 0, target, start, encoded.length);
                return start + encoded.length;
            }
            for (int i = 0; i < text.length(); i++) {
                target[start + i] = (byte) text.charAt(i);
            }
            return start + text.length();
        }

        private static boolean isAscii(String text) {
            for (int i = 0; i < text.length(); i++) {
                if (text.charAt(i) >= ASCII_LIMIT) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Messages that end with tensors' data: bytes from the heap, then the data from where it lies. */
    public static final class TensorMessage {
        /** Stands for a message that is not a field of another. */
        public static final int NOT_NESTED = 0;

        private TensorMessage() {}

        /**
         * A message of {@code head}, which is written to, and a bytes field, numbered below 16, for each tensor; in a
         * field {@code outer} of another unless {@link #NOT_NESTED}. {@code hold} keeps the data valid and is closed
         * with the message. Throws {@link GatunException} INVALID_ARGUMENT beyond gRPC's size, leaving the hold.
         */
        public static OutboundMessage of(int outer, WireWriter head, int field, MemorySegment[] tensors, Hold hold) {
            int[] ends = new int[tensors.length];
            long byteSize = 0;
            for (int i = 0; i < tensors.length; i++) {
                long length = tensors[i].byteSize();
                head.header(field, length);
                ends[i] = head.size();
                byteSize += length;
            }
            byteSize += head.size();
            if (byteSize > Integer.MAX_VALUE) {
                throw GatunException.invalidArgument(
                        "Response has byte size " + byteSize + " which exceeds gRPC's byte size limit 2147483647.");
            }
            if (outer == NOT_NESTED) {
                return new OutboundMessage(head.bytes(), head.size(), ends, tensors, hold);
            }
            WireWriter wrapped = new WireWriter();
            wrapped.header(outer, byteSize);
            int before = wrapped.size();
            wrapped.raw(head);
            for (int i = 0; i < ends.length; i++) {
                ends[i] += before;
            }
            return new OutboundMessage(wrapped.bytes(), wrapped.size(), ends, tensors, hold);
        }
    }
}
