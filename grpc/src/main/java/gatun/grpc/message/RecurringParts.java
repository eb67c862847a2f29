// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * What was read of short parts of messages, for parts of the same bytes, which recur in requests. A fixed number of
 * places; a newcomer replaces whom it meets. Safe for any thread: entries are immutable, and a lost one costs one more
 * reading.
 *
 * @param <T> what is read of a part; nobody changes it
 */
public final class RecurringParts<T> {
    private static final int MAX_LENGTH = 64;
    private static final int PLACES = 512;
    private static final int HASH_FACTOR = 31;

    private record Entry<T>(MemorySegment part, T value) {}

    @SuppressWarnings("unchecked") // an array has no type arguments
    private final @Nullable Entry<T>[] entries = (Entry<T>[]) new Entry<?>[PLACES];

    /** None yet. */
    public RecurringParts() {}

    /** What was read of the same bytes as the {@code length} from {@code start} on; null where that is not known. */
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
