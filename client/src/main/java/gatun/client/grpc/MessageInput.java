// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.MalformedResponseException;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * Reads protobuf's wire format from a stream of gRPC. For one thread. Throws {@link MalformedResponseException} for a
 * message that is not well formed.
 */
final class MessageInput {
    /** Wire type of numbers in as few bytes as they need. */
    static final int VARINT = 0;
    /** Wire type of eight bytes. */
    static final int FIXED64 = 1;
    /** Wire type of a length and as many bytes. */
    static final int LENGTH_DELIMITED = 2;
    /** Wire type of four bytes. */
    static final int FIXED32 = 5;
    /** Answered for a tag at the message's end. */
    static final int END = 0;

    private static final int TAG_TYPE_BITS = 3;
    private static final int MAX_VARINT_BITS = 64;
    private static final int CHUNK_BYTES = 1 << 15;

    private final InputStream in;
    private final boolean byBuffer;
    private long position;
    /** Where the message ends; unknown until its last byte when it was compressed. */
    private long limit;

    MessageInput(InputStream in) throws IOException {
        this.in = in;
        this.byBuffer = in instanceof HasByteBuffer buffers && buffers.byteBufferSupported();
        this.limit = in instanceof KnownLength ? in.available() : Long.MAX_VALUE;
    }

    /** The field's number of a tag. */
    static int field(int tag) {
        return tag >>> TAG_TYPE_BITS;
    }

    /** How the field of a tag is written: one of the wire types. */
    static int type(int tag) {
        return tag & ((1 << TAG_TYPE_BITS) - 1);
    }

    /** How much was read. */
    long position() {
        return position;
    }

    /** Where reading ends. */
    long limit() {
        return limit;
    }

    /** Reads up to {@code newLimit} from now on. */
    void limit(long newLimit) {
        limit = newLimit;
    }

    /** The next tag, or {@link #END}. */
    int tag() throws IOException {
        if (position >= limit) {
            return END;
        }
        int first = in.read();
        if (first < 0) {
            if (limit != Long.MAX_VALUE) {
                throw cutOff();
            }
            return END;
        }
        position++;
        long tag = varint(first);
        if (tag >>> TAG_TYPE_BITS == 0 || tag >>> Integer.SIZE != 0) {
            throw malformed("a field number that cannot be");
        }
        return (int) tag;
    }

    /** A number of up to 64 bits. */
    long varint() throws IOException {
        return varint(next());
    }

    /** The length of the following field, which lies within the message. */
    int length() throws IOException {
        long length = varint();
        if (length < 0 || length > limit - position || length > Integer.MAX_VALUE) {
            throw malformed("a field of " + Long.toUnsignedString(length) + " bytes where "
                    + Math.min(limit - position, Integer.MAX_VALUE) + " can be left");
        }
        return (int) length;
    }

    /** Reads {@code length} bytes to the heap. */
    void read(byte[] target, int offset, int length) throws IOException {
        if (length > limit - position || in.readNBytes(target, offset, length) < length) {
            throw cutOff();
        }
        position += length;
    }

    /** Fills all of {@code target}, from the received memory itself where gRPC shows it. */
    void read(MemorySegment target) throws IOException {
        long size = target.byteSize();
        if (byBuffer) {
            readBuffers(target);
        } else {
            byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, size)];
            for (long at = 0; at < size; ) {
                int length = (int) Math.min(chunk.length, size - at);
                if (in.readNBytes(chunk, 0, length) < length) {
                    throw cutOff();
                }
                MemorySegment.copy(chunk, 0, target, ValueLayout.JAVA_BYTE, at, length);
                at += length;
            }
        }
        position += size;
    }

    /** The exception for a message that is not well formed. */
    MalformedResponseException malformed(String what) {
        return new MalformedResponseException(
                "the answer is no message of the protocol: " + what + " at byte " + position);
    }

    private void readBuffers(MemorySegment target) throws IOException {
        long size = target.byteSize();
        for (long at = 0; at < size; ) {
            ByteBuffer received = ((HasByteBuffer) in).getByteBuffer();
            if (received == null || !received.hasRemaining()) {
                throw cutOff();
            }
            int length = (int) Math.min(received.remaining(), size - at);
            MemorySegment.copy(MemorySegment.ofBuffer(received), 0, target, at, length);
            if (in.skip(length) != length) {
                throw new UncheckedIOException(new IOException("the received memory cannot be passed over"));
            }
            at += length;
        }
    }

    private long varint(int first) throws IOException {
        long value = first & 0x7f;
        int next = first;
        for (int shift = 7; next >= 0x80; shift += 7) {
            if (shift >= MAX_VARINT_BITS) {
                throw malformed("a number of more than 64 bits");
            }
            next = next();
            value |= (long) (next & 0x7f) << shift;
        }
        return value;
    }

    private int next() throws IOException {
        int next = position < limit ? in.read() : -1;
        if (next < 0) {
            throw cutOff();
        }
        position++;
        return next;
    }

    private MalformedResponseException cutOff() {
        return malformed("it is cut off");
    }
}
