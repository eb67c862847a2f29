// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Strings that recur in requests, such as the names of models and tensors, without decoding them anew. A fixed number
 * of places; a newcomer replaces whom it meets. Safe for any thread: entries are immutable, and a lost one costs a
 * decoding.
 */
public final class TextCache {
    /** Longer texts are hardly names. */
    private static final int MAX_LENGTH = 64;

    private static final int PLACES = 512;
    private static final int HASH_FACTOR = 31;
    private static final char REPLACEMENT = '\ufffd';

    private record Entry(MemorySegment utf8, String text) {}

    private final @Nullable Entry[] entries = new Entry[PLACES];

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
        if (length > MAX_LENGTH) {
            return decode(bytes, start, length);
        }
        int hash = length;
        for (int i = start; i < start + length; i++) {
            hash = HASH_FACTOR * hash + bytes.get(ValueLayout.JAVA_BYTE, i);
        }
        int place = (hash ^ hash >>> 16) & (PLACES - 1);
        Entry entry = entries[place];
        if (entry != null
                && entry.utf8.byteSize() == length
                && MemorySegment.mismatch(entry.utf8, 0, length, bytes, start, start + length) < 0) {
            return entry.text;
        }
        String text = decode(bytes, start, length);
        entries[place] = new Entry(MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)), text);
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
