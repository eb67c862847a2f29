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

    static void skip(ByteBuffer in) {
        int length = integer(in, LENGTH_PREFIX);
        in.position(length > in.remaining() ? in.limit() : in.position() + length);
    }

    /** Passes over indexed fields and sizes of the table; false where no field with its own value follows. */
    static boolean skipToLiteral(ByteBuffer in) {
        while (in.hasRemaining()) {
            int first = in.get(in.position());
            if (first < 0) {
                integer(in, 7);
            } else if ((first & 0xe0) == 0x20) {
                integer(in, 5);
            } else {
                return true;
            }
        }
        return false;
    }

    /** Whether the field at the position, which has a value of its own, enters the dynamic table. */
    static boolean isIndexing(ByteBuffer in) {
        return (in.get(in.position()) & 0x40) != 0;
    }

    /** Reads the index of a name at the position, of a field with its own value; 0 where the name follows. */
    static int nameIndex(ByteBuffer in) {
        return integer(in, isIndexing(in) ? 6 : 4);
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

    /**
     * Lets a decoder that refuses outer blanks, as HTTP/2 wants, read values of gRPC clients: puts another character in
     * each blank's place, which keeps the compression state, and restores it. One thread uses it.
     */
    static final class HpackWhitespaceShim {
        /** Not ASCII, as all of gRPC's values are, and allowed by the decoder. */
        private static final char STAND_IN = '\u00a0';

        /** Where the static table begins to have names other than those of HTTP/2 itself. */
        private static final int FIRST_NAME = 15;

        // The blank's code in HPACK's Huffman code; what a value's last code leaves of its byte is filled with ones.
        private static final int CODE = 0x14;
        private static final int CODE_BITS = 6;
        private static final int CODE_MASK = (1 << CODE_BITS) - 1;

        private final HpackStrings strings = new HpackStrings();

        /** A block that the decoder takes: {@code block} itself where no value begins or ends with a blank. */
        ByteBuffer readable(ByteBuffer block) {
            ByteBuffer in = block.duplicate();
            ByteBuffer out = null;
            int copied = in.position();
            while (skipToLiteral(in)) {
                int nameIndex = nameIndex(in);
                boolean ours = nameIndex == 0 ? passesName(in) : nameIndex >= FIRST_NAME;
                int start = in.position();
                if (!ours || !mayBeBlankAtAnEnd(in.duplicate())) {
                    HpackStrings.skip(in);
                    continue;
                }
                String value = strings.read(in).orElse("");
                if (!isBlankAtAnEnd(value)) {
                    continue;
                }
                if (out == null) {
                    // Huffman's codes have at least five bits, and a longer value may take one byte more of length.
                    out = ByteBuffer.allocate(2 * block.remaining());
                }
                out.put(block.duplicate().limit(start).position(copied));
                HpackStrings.put(out, replaced(value, ' ', STAND_IN));
                copied = in.position();
            }
            return out == null
                    ? block
                    : out.put(block.duplicate().position(copied)).flip();
        }

        /** The value that the client sent, of a block that was made readable. */
        static String restored(String value) {
            if (value.isEmpty() || (value.charAt(0) != STAND_IN && value.charAt(value.length() - 1) != STAND_IN)) {
                return value;
            }
            return replaced(value, STAND_IN, ' ');
        }

        /** Passes over a name and tells whether it is a header's, and not one of HTTP/2 itself. */
        private static boolean passesName(ByteBuffer in) {
            ByteBuffer name = in.duplicate();
            HpackStrings.skip(in);
            HpackStrings.integer(name, HpackStrings.LENGTH_PREFIX);
            return !name.hasRemaining() || name.get(name.position()) != ':';
        }

        /** Whether the value at the position has to be read, as its first or last byte may be of a blank. */
        private static boolean mayBeBlankAtAnEnd(ByteBuffer in) {
            boolean compressed = in.hasRemaining() && in.get(in.position()) < 0;
            int length = HpackStrings.integer(in, HpackStrings.LENGTH_PREFIX);
            if (length == 0 || length > in.remaining()) {
                return false;
            }
            int first = in.get(in.position()) & 0xff;
            int end = in.position() + length;
            int last = in.get(end - 1) & 0xff;
            if (!compressed) {
                return first == ' ' || last == ' ';
            }
            int tail = length == 1 ? last : (in.get(end - 2) & 0xff) << Byte.SIZE | last;
            int filling = Integer.numberOfTrailingZeros(~tail);
            return first >> (Byte.SIZE - CODE_BITS) == CODE || (tail >> filling & CODE_MASK) == CODE;
        }

        private static boolean isBlankAtAnEnd(String value) {
            return !value.isEmpty() && (value.charAt(0) == ' ' || value.charAt(value.length() - 1) == ' ');
        }

        /** The text with {@code to} for each {@code from} before the first and after the last other character. */
        private static String replaced(String text, char from, char to) {
            int begin = 0;
            while (begin < text.length() && text.charAt(begin) == from) {
                begin++;
            }
            int end = text.length();
            while (end > begin && text.charAt(end - 1) == from) {
                end--;
            }
            String ends = String.valueOf(to);
            return ends.repeat(begin) + text.substring(begin, end) + ends.repeat(text.length() - end);
        }
    }
}
