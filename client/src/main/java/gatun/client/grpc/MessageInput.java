// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.MalformedResponseException;
import gatun.wire.WireCursor;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/** Protobuf's wire format from a gRPC stream. Throws {@link MalformedResponseException}. Not thread-safe. */
final class MessageInput extends WireCursor {
    /** Returned in place of a tag at the message's end; no field has it. */
    static final int END = 0;

    private static final int CHUNK_BYTES = 1 << 15;

    private final InputStream in;
    private final boolean byBuffer;

    /** A reader of {@code in}; the end of a message that was compressed is unknown until its last byte. */
    MessageInput(InputStream in) throws IOException {
        super(0, in instanceof KnownLength ? in.available() : Long.MAX_VALUE);
        this.in = in;
        this.byBuffer = in instanceof HasByteBuffer buffers && buffers.byteBufferSupported();
    }

    long position() {
        return at;
    }

    /** The position where reading ends. */
    long limit() {
        return end;
    }

    /** Reads up to {@code newLimit} from now on. */
    void limit(long newLimit) {
        end = newLimit;
    }

    /** The next tag, or {@link #END}. */
    int tagOrEnd() throws IOException {
        if (!hasMore()) {
            return END;
        }
        if (end != Long.MAX_VALUE) {
            return tag();
        }
        int first = in.read();
        if (first < 0) {
            return END;
        }
        at++;
        return tag(first < 0x80 ? first : (varint() << 7) | (first & 0x7f));
    }

    /** The length of the following field, which lies within the message. */
    int length() {
        long length = readLength();
        if (length > Integer.MAX_VALUE) {
            throw malformed("a field of " + length + " bytes");
        }
        return (int) length;
    }

    @Override
    protected int nextByte() {
        try {
            int next = in.read();
            if (next < 0) {
                throw cutOff();
            }
            at++;
            return next;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected void pass(long count) {
        try {
            in.skipNBytes(count);
        } catch (EOFException e) {
            throw cutOff();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        at += count;
    }

    void read(byte[] target, int offset, int length) throws IOException {
        if (length > end - at || in.readNBytes(target, offset, length) < length) {
            throw cutOff();
        }
        at += length;
    }

    /** Fills all of {@code target}, from the received memory itself where gRPC shows it. */
    void read(MemorySegment target) throws IOException {
        long size = target.byteSize();
        if (byBuffer) {
            readBuffers(target);
        } else {
            byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, size)];
            for (long done = 0; done < size; ) {
                int length = (int) Math.min(chunk.length, size - done);
                if (in.readNBytes(chunk, 0, length) < length) {
                    throw cutOff();
                }
                MemorySegment.copy(chunk, 0, target, ValueLayout.JAVA_BYTE, done, length);
                done += length;
            }
        }
        at += size;
    }

    @Override
    public MalformedResponseException malformed(String problem) {
        return new MalformedResponseException(
                "the response is not a message of the protocol: " + problem + " at byte " + at);
    }

    private void readBuffers(MemorySegment target) throws IOException {
        long size = target.byteSize();
        for (long done = 0; done < size; ) {
            ByteBuffer received = ((HasByteBuffer) in).getByteBuffer();
            if (received == null || !received.hasRemaining()) {
                throw cutOff();
            }
            int length = (int) Math.min(received.remaining(), size - done);
            MemorySegment.copy(MemorySegment.ofBuffer(received), 0, target, done, length);
            if (in.skip(length) != length) {
                throw new UncheckedIOException(new IOException("the received memory cannot be passed over"));
            }
            done += length;
        }
    }

    private MalformedResponseException cutOff() {
        return malformed("it is cut off");
    }
}
