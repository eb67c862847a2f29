// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.eclipse.jetty.http.HostPortHttpField;
import org.eclipse.jetty.http.HttpException;

/**
 * The header block that opens a call, or several.
 *
 * @param method the HTTP method
 * @param path the path as the client wrote it
 * @param authority the authority; empty when there was none, or one that is no host
 * @param route where the block says that the call comes from and goes to
 * @param contentType the content type; empty when there was none
 * @param timeout the {@code grpc-timeout}; empty when there was none
 * @param compression how messages may be compressed
 * @param metadata every field that is not HTTP/2's own; only read, for handlers get a {@linkplain #metadataCopy copy}
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
     * The way of a call, as its header block tells it.
     *
     * @param hosts the hosts that it is for, which are one unless the client contradicts itself; an empty text stands
     *     for an authority that is no host
     * @param forwarded whether a proxy says that the call came through it
     */
    public record Route(List<String> hosts, boolean forwarded) {}

    /**
     * The client's word on compressed messages.
     *
     * @param encoding the {@code grpc-encoding} of its own; {@code identity} when there was none
     * @param acceptEncoding the {@code grpc-accept-encoding}, all of it; empty when there was none
     */
    public record Compression(String encoding, String acceptEncoding) {}

    /** The metadata for a handler, which may change it: other calls have the same head. */
    public Metadata metadataCopy() {
        Metadata copy = new Metadata();
        copy.merge(metadata);
        return copy;
    }

    /**
     * Lets a decoder that takes only hosts for an authority read the header blocks of clients that name a Unix domain
     * socket by its path, as grpc-java does: puts another text of the same length in its place, so that the compression
     * state stays that of the client. One thread uses it.
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
                boolean isAuthority = nameIndex == NAME_INDEX || (nameIndex == 0 && isName(in));
                if (isAuthority) {
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
                    && in.duplicate().position(start).slice().limit(NAME.length).equals(ByteBuffer.wrap(NAME));
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
