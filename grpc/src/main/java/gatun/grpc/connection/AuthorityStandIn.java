package gatun.grpc.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HostPortHttpField;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.compression.EncodingException;
import org.eclipse.jetty.http.compression.HuffmanDecoder;

/**
 * Lets a decoder that takes only hosts for an authority read the header blocks of clients that name a Unix domain socket by its
 * path, as grpc-java does: puts another text of the same length in its place, so that the compression state stays that of the
 * client. One thread uses it.
 */
final class AuthorityStandIn {
    private static final byte[] NAME = ":authority".getBytes(StandardCharsets.US_ASCII);

    /** Where the static table has the name. */
    private static final int NAME_INDEX = 1;

    /** A host's name may hold it, but none consists of nothing else. */
    private static final char FILLER = '_';

    private static final int HUFFMAN = 0x80;
    private static final int STRING_PREFIX = 7;

    private final HuffmanDecoder huffman = new HuffmanDecoder();

    /** Whether {@code authority} is one that this class has put in. */
    static boolean isStandIn(String authority) {
        for (int i = 0; i < authority.length(); i++) {
            if (authority.charAt(i) != FILLER) {
                return false;
            }
        }
        return !authority.isEmpty();
    }

    /** A block with an authority that the decoder takes: {@code block} itself where that is so, or where it is malformed. */
    ByteBuffer readable(ByteBuffer block) {
        ByteBuffer in = block.duplicate();
        while (in.hasRemaining()) {
            int first = in.get(in.position());
            if (first < 0) {
                integer(in, 7);
            } else if ((first & 0xe0) == 0x20) {
                integer(in, 5);
            } else {
                int nameIndex = integer(in, (first & 0x40) != 0 ? 6 : 4);
                boolean isAuthority = nameIndex == NAME_INDEX || (nameIndex == 0 && isName(in));
                if (isAuthority) {
                    return withReadableValue(block, in);
                }
                skipString(in);
            }
        }
        return block;
    }

    /** Passes over a name and tells whether it is the authority's. */
    private static boolean isName(ByteBuffer in) {
        int start = in.position() + 1;
        skipString(in);
        return in.position() - start == NAME.length
                && in.duplicate().position(start).slice().limit(NAME.length).equals(ByteBuffer.wrap(NAME));
    }

    private ByteBuffer withReadableValue(ByteBuffer block, ByteBuffer in) {
        int start = in.position();
        boolean compressed = in.hasRemaining() && (in.get(start) & HUFFMAN) != 0;
        int length = integer(in, STRING_PREFIX);
        if (length > in.remaining()) {
            return block;
        }
        int end = in.position() + length;
        String authority;
        try {
            authority = compressed ? decompressed(in, length) : text(in, length);
        } catch (EncodingException e) {
            return block;
        }
        if (isHost(authority)) {
            return block;
        }
        ByteBuffer readable = ByteBuffer.allocate(block.remaining() + authority.length() + Integer.BYTES);
        readable.put(block.duplicate().limit(start));
        putLength(readable, authority.length());
        for (int i = 0; i < authority.length(); i++) {
            readable.put((byte) FILLER);
        }
        return readable.put(block.duplicate().position(end)).flip();
    }

    private String decompressed(ByteBuffer in, int length) throws EncodingException {
        try {
            huffman.setLength(length);
            String text = huffman.decode(in);
            return text == null ? "" : text;
        } finally {
            huffman.reset();
        }
    }

    private static String text(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Whether the decoder takes it; one of no length cannot be replaced by another. */
    private static boolean isHost(String authority) {
        try {
            return authority.isEmpty() || new HostPortHttpField(authority).getHost() != null;
        } catch (HttpException.RuntimeException e) {
            return false;
        }
    }

    private static void putLength(ByteBuffer out, int length) {
        int most = (1 << STRING_PREFIX) - 1;
        if (length < most) {
            out.put((byte) length);
            return;
        }
        out.put((byte) most);
        int rest = length - most;
        while (rest > 0x7f) {
            out.put((byte) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.put((byte) rest);
    }

    /** Passes over a string of HPACK. */
    static void skipString(ByteBuffer in) {
        int length = integer(in, STRING_PREFIX);
        in.position(length > in.remaining() ? in.limit() : in.position() + length);
    }

    /** Reads an integer of HPACK; one that is cut off or too large for a block ends the block. */
    static int integer(ByteBuffer in, int prefix) {
        if (!in.hasRemaining()) {
            return 0;
        }
        int most = (1 << prefix) - 1;
        long value = in.get() & most;
        if (value < most) {
            return (int) value;
        }
        for (int shift = 0; in.hasRemaining() && shift < Integer.SIZE; shift += 7) {
            int next = in.get();
            value += (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return (int) Math.min(value, Integer.MAX_VALUE);
            }
        }
        in.position(in.limit());
        return 0;
    }
}
