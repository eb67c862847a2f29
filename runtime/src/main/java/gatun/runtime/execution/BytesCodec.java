package gatun.runtime.execution;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Checks and writes the raw form of BYTES tensors: for each element a 4-byte little-endian unsigned length, then its bytes. */
final class BytesCodec {
    private static final int LENGTH_BYTES = Integer.BYTES;

    private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BytesCodec() {}

    /** Whether a segment holds the expected elements. */
    sealed interface Check {
        /** It does. */
        enum Complete implements Check {
            /** The only value. */
            COMPLETE
        }

        /**
         * The bytes end within a length.
         *
         * @param availableBytes how many of its 4 bytes there are, 1 to 3
         */
        record IncompleteLength(long availableBytes) implements Check {}

        /**
         * The bytes end within an element.
         *
         * @param expectedBytes its length
         * @param availableBytes how many of them there are
         */
        record IncompleteElement(long expectedBytes, long availableBytes) implements Check {}

        /**
         * There is at least one element too many.
         *
         * @param foundCount the number of the first surplus element, counted from 1
         */
        record TooMany(long foundCount) implements Check {}

        /**
         * The bytes end before the last element.
         *
         * @param foundCount how many there are
         */
        record TooFew(long foundCount) implements Check {}
    }

    /** Finds out whether {@code raw} is {@code expectedCount} complete elements and nothing else. */
    static Check check(MemorySegment raw, long expectedCount) {
        long end = raw.byteSize();
        long offset = 0;
        long count = 0;
        while (offset < end) {
            if (end - offset < LENGTH_BYTES) {
                return new Check.IncompleteLength(end - offset);
            }
            long byteSize = Integer.toUnsignedLong(raw.get(LENGTH, offset));
            count++;
            if (count > expectedCount) {
                return new Check.TooMany(count);
            }
            offset += LENGTH_BYTES;
            if (byteSize > end - offset) {
                return new Check.IncompleteElement(byteSize, end - offset);
            }
            offset += byteSize;
        }
        return count == expectedCount ? Check.Complete.COMPLETE : new Check.TooFew(count);
    }

    /** Bytes that {@code texts} take in raw form, in UTF-8. */
    static long encodedTextByteSize(List<String> texts) {
        return texts.stream()
                .mapToLong(text -> LENGTH_BYTES + text.getBytes(StandardCharsets.UTF_8).length)
                .sum();
    }

    /** Writes {@code texts} in UTF-8 to the start of {@code target}. */
    static void encodeText(List<String> texts, MemorySegment target) {
        long offset = 0;
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            target.set(LENGTH, offset, bytes.length);
            MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, offset + LENGTH_BYTES, bytes.length);
            offset += LENGTH_BYTES + bytes.length;
        }
    }
}
