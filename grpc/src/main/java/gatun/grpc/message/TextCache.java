// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Recurring strings in requests, such as names of models, decoded once. Thread-safe. */
public final class TextCache {
    private static final char REPLACEMENT = '\ufffd';

    private final RecurringParts<String> texts = new RecurringParts<>();

    /** An empty cache. */
    public TextCache() {}

    /** The text in these bytes. Throws {@link CharacterCodingException} when they are not UTF-8. */
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

    /**
     * What was read of short parts of messages, which recur in requests; nobody changes it. A newcomer takes the place
     * of whom it meets. Thread-safe: entries are immutable, and a lost one costs one more reading.
     */
    public static final class RecurringParts<T> {
        private static final int MAX_LENGTH = 64;
        private static final int PLACES = 512;
        private static final int HASH_FACTOR = 31;

        private record Entry<T>(MemorySegment part, T value) {}

        @SuppressWarnings("unchecked") // an array has no type arguments
        private final @Nullable Entry<T>[] entries = (Entry<T>[]) new Entry<?>[PLACES];

        /** None yet. */
        public RecurringParts() {}

        /** What was read of the same bytes as these; null where that is not known. */
        public @Nullable T find(MemorySegment bytes, int start, int length) {
            if (length > MAX_LENGTH) {
                return null;
            }
            Entry<T> entry = entries[place(bytes, start, length)];
            return entry != null
                            && entry.part.byteSize() == length
                            && MemorySegment.mismatch(entry.part, 0, length, bytes, start, start + length) < 0
                    ? entry.value
                    : null;
        }

        /** Remembers what was read of a part, unless it is too long. */
        public void keep(MemorySegment bytes, int start, int length, T value) {
            if (length <= MAX_LENGTH) {
                byte[] part = bytes.asSlice(start, length).toArray(ValueLayout.JAVA_BYTE);
                entries[place(bytes, start, length)] = new Entry<>(MemorySegment.ofArray(part), value);
            }
        }

        private static int place(MemorySegment bytes, int start, int length) {
            int hash = length;
            for (int i = start; i < start + length; i++) {
                hash = HASH_FACTOR * hash + bytes.get(ValueLayout.JAVA_BYTE, i);
            }
            return (hash ^ hash >>> 16) & (PLACES - 1);
        }
    }
}
