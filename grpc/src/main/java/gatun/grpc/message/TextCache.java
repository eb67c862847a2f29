// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Recurring strings in requests, such as names of models, decoded once. Thread-safe. */
public final class TextCache {
    private static final char REPLACEMENT = '\ufffd';

    private final RecurringParts<String> texts = new RecurringParts<>();

    /** An empty cache. */
    public TextCache() {}

    /**
     * The text in {@code length} bytes from {@code start} on.
     *
     * @throws CharacterCodingException when they are not UTF-8
     */
    public String text(MemorySegment bytes, int start, int length) throws CharacterCodingException {
        if (length == 0) {
            return "";
        }
        String known = texts.find(bytes, start, length);
        if (known != null) {
            return known;
        }
        String text = decode(bytes, start, length);
        texts.keep(bytes, start, length, text);
        return text;
    }

    private static String decode(MemorySegment bytes, int start, int length) throws CharacterCodingException {
        byte[] copy = new byte[length];
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, start, copy, 0, length);
        String text = new String(copy, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0) {
            // Either the client wrote that character, or the bytes are not UTF-8: the strict decoder knows.
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(copy))
                    .toString();
        }
        return text;
    }
}
