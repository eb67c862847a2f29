// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HostPortHttpField;
import org.eclipse.jetty.http.HttpException;

/**
 * Lets a decoder that takes only hosts for an authority read the header blocks of clients that name a Unix domain
 * socket by its path, as grpc-java does: puts another text of the same length in its place, so that the compression
 * state stays that of the client. One thread uses it.
 */
final class UnixSocketAuthority {
    private static final byte[] NAME = ":authority".getBytes(StandardCharsets.US_ASCII);

    /** Where the static table has the name. */
    private static final int NAME_INDEX = 1;

    /** A host's name may hold it, but none consists of nothing else. */
    private static final String FILLER = "_";

    private final HpackStrings strings = new HpackStrings();

    /** Whether {@code authority} is one that this class has put in. */
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
        while (in.hasRemaining()) {
            int first = in.get(in.position());
            if (first < 0) {
                HpackStrings.integer(in, 7);
            } else if ((first & 0xe0) == 0x20) {
                HpackStrings.integer(in, 5);
            } else {
                int nameIndex = HpackStrings.integer(in, (first & 0x40) != 0 ? 6 : 4);
                boolean isAuthority = nameIndex == NAME_INDEX || (nameIndex == 0 && isName(in));
                if (isAuthority) {
                    return withReadableValue(block, in);
                }
                HpackStrings.skip(in);
            }
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
