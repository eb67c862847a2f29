// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Supplier;

/** Puts together the header blocks of HEADERS and CONTINUATION frames. Used by the reading thread only. */
public final class HeaderBlockReader {
    /** CONTINUATION frames of one block; more serve nothing but an attack. */
    private static final int MAX_CONTINUATIONS = 64;

    /** Bytes of a stream's priority fields in a HEADERS frame. */
    public static final int PRIORITY_SIZE = 5;

    private final FrameReader reader;
    private final HeaderDecoder decoder;
    private final int sizeLimit;
    private final Supplier<Runnable> timeLimit;

    /**
     * Reads blocks of at most {@code sizeLimit} bytes once they are unpacked.
     *
     * @param timeLimit begins to limit the time of a block that has not come as a whole; what it returns ends the limit
     */
    public HeaderBlockReader(FrameReader reader, int sizeLimit, Supplier<Runnable> timeLimit) {
        this.reader = reader;
        this.timeLimit = timeLimit;
        this.decoder = new HeaderDecoder(sizeLimit);
        // Compression makes blocks smaller: one of twice the size is beyond the limit without a look inside.
        this.sizeLimit = 2 * sizeLimit;
    }

    /** Reads the block that the present HEADERS frame begins, to the end of its last frame. */
    public RequestHead read() throws IOException, HeaderDecoder.MalformedHeaders, HeaderDecoder.RefusedHeaders {
        return decoder.decode(block());
    }

    /** Reads a block that nobody wants. */
    public void pass() throws IOException {
        decoder.decodeAndForget(block());
    }

    private ByteBuffer block() throws IOException {
        if (reader.has(Http2.FLAG_END_HEADERS) && reader.buffered() >= reader.length()) {
            return readBlock();
        }
        Runnable inTime = timeLimit.get();
        try {
            return readBlock();
        } finally {
            inTime.run();
        }
    }

    private ByteBuffer readBlock() throws IOException {
        boolean padded = reader.has(Http2.FLAG_PADDED);
        int priority = reader.has(Http2.FLAG_PRIORITY) ? PRIORITY_SIZE : 0;
        int around = (padded ? 1 : 0) + priority;
        reader.requireSize(reader.length() >= around);
        int padding = padded ? reader.readByte() : 0;
        reader.skip(priority);
        int length = reader.length() - around - padding;
        if (length < 0) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "a HEADERS frame is shorter than its padding");
        }
        check(length);
        if (reader.has(Http2.FLAG_END_HEADERS) && padding == 0 && length <= reader.capacity()) {
            return reader.view(length);
        }
        byte[] bytes = new byte[length];
        reader.readInto(bytes, 0, length);
        reader.skip(padding);
        return ByteBuffer.wrap(reader.has(Http2.FLAG_END_HEADERS) ? bytes : continued(bytes));
    }

    private byte[] continued(byte[] first) throws IOException {
        int streamId = reader.streamId();
        byte[] bytes = first;
        for (int frames = 1; !reader.has(Http2.FLAG_END_HEADERS); frames++) {
            if (!reader.next()) {
                throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "the connection ends within a header block");
            }
            if (reader.type() != Http2.CONTINUATION || reader.streamId() != streamId) {
                throw new ConnectionError(
                        Http2Error.PROTOCOL_ERROR,
                        "a frame of type " + reader.type() + " on stream " + reader.streamId()
                                + " within the header block of stream " + streamId);
            }
            if (frames > MAX_CONTINUATIONS) {
                throw new ConnectionError(
                        Http2Error.ENHANCE_YOUR_CALM,
                        "a header block has more than " + MAX_CONTINUATIONS + " CONTINUATION frames");
            }
            int length = reader.length();
            check((long) bytes.length + length);
            bytes = Arrays.copyOf(bytes, bytes.length + length);
            reader.readInto(bytes, bytes.length - length, length);
        }
        return bytes;
    }

    private void check(long byteSize) {
        if (byteSize > sizeLimit) {
            throw new ConnectionError(
                    Http2Error.ENHANCE_YOUR_CALM,
                    "a header block of " + byteSize + " bytes exceeds the limit of " + sizeLimit);
        }
    }
}
