// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import io.grpc.Metadata;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HostPortHttpField;
import org.eclipse.jetty.http.HttpException;

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

    /** Reads blocks up to {@code sizeLimit} unpacked bytes; {@code timeLimit} starts a limit, its result ends it. */
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

    /**
     * The header block that opens a call, or several. Absent texts are empty, as is an {@code authority} that is no
     * host. {@code metadata}, all fields but HTTP/2's, is only read: handlers get a {@linkplain #metadataCopy copy}.
     */
    public record RequestHead(
            String method,
            String path,
            String authority,
            Route route,
            String contentType,
            String timeout,
            Compression compression,
            Metadata metadata) {
        /**
         * The way of a call: the {@code hosts} that it is for, one unless the client contradicts itself, empty for an
         * authority that is no host; {@code forwarded} if a proxy says that the call came through it.
         */
        public record Route(List<String> hosts, boolean forwarded) {}

        /** The {@code grpc-encoding}, or {@code identity}, and the {@code grpc-accept-encoding}, all of it, or "". */
        public record Compression(String encoding, String acceptEncoding) {}

        /** The metadata for a handler, which may change it: other calls have the same head. */
        public Metadata metadataCopy() {
            Metadata copy = new Metadata();
            copy.merge(metadata);
            return copy;
        }

        /**
         * Lets a decoder that takes only hosts read blocks whose authority is a Unix domain socket's path, as
         * grpc-java's: puts a text of the same length there, which keeps the compression state. One thread uses it.
         */
        static final class UnixSocketAuthority {
            private static final byte[] NAME = ":authority".getBytes(StandardCharsets.US_ASCII);
            private static final int NAME_INDEX = 1;

            /** A host's name may hold it, but none consists of nothing else. */
            private static final String FILLER = "_";

            private final HpackStrings strings = new HpackStrings();

            static boolean isStandIn(String authority) {
                for (int i = 0; i < authority.length(); i++) {
                    if (authority.charAt(i) != FILLER.charAt(0)) {
                        return false;
                    }
                }
                return !authority.isEmpty();
            }

            /** A block with an authority that the decoder takes; {@code block} itself if it has one or is malformed. */
            ByteBuffer readable(ByteBuffer block) {
                ByteBuffer in = block.duplicate();
                while (HpackStrings.skipToLiteral(in)) {
                    int nameIndex = HpackStrings.nameIndex(in);
                    if (nameIndex == NAME_INDEX || (nameIndex == 0 && isName(in))) {
                        return withReadableValue(block, in);
                    }
                    HpackStrings.skip(in);
                }
                return block;
            }

            /** Passes over a name and tells whether it is the authority's. */
            private static boolean isName(ByteBuffer in) {
                int start = in.position() + 1;
                HpackStrings.skip(in);
                return in.position() - start == NAME.length
                        && in.duplicate()
                                .position(start)
                                .slice()
                                .limit(NAME.length)
                                .equals(ByteBuffer.wrap(NAME));
            }

            private ByteBuffer withReadableValue(ByteBuffer block, ByteBuffer in) {
                int start = in.position();
                String authority = strings.read(in).orElse("");
                if (isHost(authority)) {
                    return block;
                }
                int end = in.position();
                ByteBuffer readable = ByteBuffer.allocate(block.remaining() + authority.length() + Integer.BYTES);
                readable.put(block.duplicate().limit(start));
                HpackStrings.put(readable, FILLER.repeat(authority.length()));
                return readable.put(block.duplicate().position(end)).flip();
            }

            /** Whether the decoder takes it; one of no length cannot be replaced by another. */
            private static boolean isHost(String authority) {
                try {
                    return authority.isEmpty() || new HostPortHttpField(authority).getHost() != null;
                } catch (HttpException.RuntimeException e) {
                    return false;
                }
            }
        }
    }
}
