// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.eclipse.jetty.http.compression.EncodingException;
import org.eclipse.jetty.http.compression.HuffmanDecoder;

/** Reads the integers and strings of HPACK's fields (RFC 7541, section 5). One thread uses it. */
final class HpackStrings {
    /** The bits of a string's first byte that are of its length. */
    static final int LENGTH_PREFIX = 7;

    private static final int HUFFMAN = 0x80;

    private final HuffmanDecoder huffman = new HuffmanDecoder();

    /** The string at the position, which is passed over; empty where it is cut off or malformed. */
    Optional<String> read(ByteBuffer in) {
        boolean compressed = in.hasRemaining() && (in.get(in.position()) & HUFFMAN) != 0;
        int length = integer(in, LENGTH_PREFIX);
        if (length > in.remaining()) {
            in.position(in.limit());
            return Optional.empty();
        }
        if (!compressed) {
            byte[] bytes = new byte[length];
            in.get(bytes);
            return Optional.of(new String(bytes, StandardCharsets.ISO_8859_1));
        }
        int end = in.position() + length;
        try {
            huffman.setLength(length);
            return Optional.ofNullable(huffman.decode(in));
        } catch (EncodingException e) {
            return Optional.empty();
        } finally {
            huffman.reset();
            in.position(end);
        }
    }

    /** Puts a text of Latin letters in, not compressed. */
    static void put(ByteBuffer out, String text) {
        int most = (1 << LENGTH_PREFIX) - 1;
        int length = text.length();
        if (length < most) {
            out.put((byte) length);
        } else {
            out.put((byte) most);
            int rest = length - most;
            while (rest > 0x7f) {
                out.put((byte) ((rest & 0x7f) | 0x80));
                rest >>>= 7;
            }
            out.put((byte) rest);
        }
        out.put(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Passes over a string of HPACK. */
    static void skip(ByteBuffer in) {
        int length = integer(in, LENGTH_PREFIX);
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
