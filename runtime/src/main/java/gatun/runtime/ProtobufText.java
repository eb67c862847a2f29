// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.TextFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Reads files in protobuf's text format. As in protobuf's own C++ parser, a comment may be in any encoding; all else is
 * UTF-8, and outside of quotes ASCII. A character that an editor does not show, or shows as another, is named.
 */
public final class ProtobufText {
    private static final int BYTE_ORDER_MARK = 0xFEFF;

    /** Full-width forms of ASCII characters, in the order of ASCII. */
    private static final int FULL_WIDTH_FIRST = 0xFF01;

    private static final int FULL_WIDTH_LAST = 0xFF5E;
    private static final int FULL_WIDTH_OFFSET = FULL_WIDTH_FIRST - '!';

    private final byte[] bytes;

    private ProtobufText(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * The text of a file, in which every byte of a comment that is not ASCII is a question mark.
     *
     * @throws TextFormat.ParseException with the place of the first character that no such file may have there
     */
    public static String read(Path file) throws IOException, TextFormat.ParseException {
        return of(Files.readAllBytes(file));
    }

    /** As {@link #read}, of the bytes of a file, which are changed. */
    static String of(byte[] bytes) throws TextFormat.ParseException {
        return new ProtobufText(bytes).text();
    }

    private String text() throws TextFormat.ParseException {
        if (bytes.length > 1 && (bytes[0] & bytes[1] & 0xFE) == 0xFE && bytes[0] != bytes[1]) {
            throw new TextFormat.ParseException(1, 1, "the file is UTF-16; save it as UTF-8");
        }
        int offending = hideComments();
        if (offending < bytes.length) {
            throw unexpected(offending);
        }
        try {
            return decode(0, bytes.length);
        } catch (CharacterCodingException e) {
            throw notUtf8(0);
        }
    }

    /** Replaces what is not ASCII in comments; returns the offset of the first byte outside of quotes that may not be. */
    private int hideComments() {
        boolean comment = false;
        int quote = 0;
        for (int i = 0; i < bytes.length; i++) {
            byte b = bytes[i];
            if (b == '\n') {
                comment = false;
                quote = 0; // A string without an end, of which the parser tells.
            } else if (comment) {
                bytes[i] = b < 0 ? (byte) '?' : b;
            } else if (quote != 0) {
                quote = b == quote ? 0 : quote;
                i += b == '\\' && i + 1 < bytes.length && bytes[i + 1] != '\n' ? 1 : 0;
            } else if (b == '#') {
                comment = true;
            } else if (b == '"' || b == '\'') {
                quote = b;
            } else if (b < 0 || (Character.isISOControl(b) && !Character.isWhitespace(b))) {
                return i;
            }
        }
        return bytes.length;
    }

    private TextFormat.ParseException unexpected(int offset) {
        int length = Math.max(1, Integer.numberOfLeadingZeros(~(bytes[offset] << 24)));
        try {
            int character =
                    decode(offset, Math.min(bytes.length, offset + length)).codePointAt(0);
            return at(offset, String.format(Locale.ROOT, "U+%04X %s", character, describe(character, offset)));
        } catch (CharacterCodingException e) {
            return notUtf8(offset);
        }
    }

    private static String describe(int character, int offset) {
        if (character == BYTE_ORDER_MARK && offset == 0) {
            return "byte order mark at the start; save the file without it";
        }
        String name = String.valueOf(Character.getName(character)).toLowerCase(Locale.ROOT);
        return name + " outside of quotes and comments; " + advice(character);
    }

    private static String advice(int character) {
        if (character >= FULL_WIDTH_FIRST && character <= FULL_WIDTH_LAST) {
            return "write '" + (char) (character - FULL_WIDTH_OFFSET) + "'";
        }
        return switch (Character.getType(character)) {
            case Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                "write a plain blank or a new line";
            case Character.INITIAL_QUOTE_PUNCTUATION, Character.FINAL_QUOTE_PUNCTUATION ->
                "write a plain quote, \" or '";
            case Character.FORMAT, Character.CONTROL -> "delete it";
            default -> "write ASCII, or put the text into quotes or behind '#'";
        };
    }

    /** The failure of bytes that are not UTF-8, somewhere from {@code start} on. */
    private TextFormat.ParseException notUtf8(int start) {
        ByteBuffer in = ByteBuffer.wrap(bytes, start, bytes.length - start);
        UTF_8.newDecoder().decode(in, CharBuffer.allocate(in.remaining()), true);
        int offset = in.position();
        return at(
                offset, String.format(Locale.ROOT, "byte 0x%02X is not UTF-8; save the file as UTF-8", bytes[offset]));
    }

    private String decode(int start, int end) throws CharacterCodingException {
        return UTF_8.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(bytes, start, end - start))
                .toString();
    }

    /** A failure at an offset; all before it is UTF-8. */
    private TextFormat.ParseException at(int offset, String problem) {
        int line = 1;
        int lineStart = 0;
        for (int i = 0; i < offset; i++) {
            if (bytes[i] == '\n') {
                line++;
                lineStart = i + 1;
            }
        }
        int column = new String(bytes, lineStart, offset - lineStart, UTF_8).length() + 1;
        return new TextFormat.ParseException(line, column, problem);
    }
}
