// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The raw form of BYTES tensors: for each element a 4-byte little-endian unsigned length, then that many bytes, without
 * padding. Works on native memory and makes no garbage per element.
 *
 * <p>Memory that a client can change is copied first ({@code RegionRegistry.Access.SNAPSHOT}): between two looks at a
 * length it could become another one. Stateless and safe for any thread.
 */
public final class BytesCodec {
    /** Bytes of the length in front of each element. */
    public static final int LENGTH_BYTES = Integer.BYTES;

    /** How many elements are looked at between two yields: the lengths alone are as long as other work in between. */
    private static final int ELEMENTS_AT_ONCE = CooperativeYield.STEP / LENGTH_BYTES;

    private static final byte REPLACEMENT = '?';

    private BytesCodec() {}

    /** Whether a segment holds the expected elements. */
    public sealed interface Check {
        /** It does. */
        enum Complete implements Check {
            /** The only value. */
            COMPLETE
        }

        /** The bytes end within a length. {@code availableBytes} says how many of its 4 bytes there are, 1 to 3. */
        record IncompleteLength(long availableBytes) implements Check {}

        /** The bytes end within an element; {@code availableBytes} of its length are there. */
        record IncompleteElement(long expectedBytes, long availableBytes) implements Check {}

        /** There is at least one element too many: the first surplus one is number {@code foundCount}, from 1. */
        record TooMany(long foundCount) implements Check {}

        /** The bytes end before the last element. {@code foundCount} says how many there are. */
        record TooFew(long foundCount) implements Check {}
    }

    /** Sees the elements of a segment in their order. */
    @FunctionalInterface
    public interface ElementVisitor {
        /** An element of {@code byteSize} bytes at {@code offset} of the segment. */
        void element(long offset, long byteSize);
    }

    /** Finds out whether {@code raw} is {@code expectedCount} complete elements and nothing else. */
    public static Check check(MemorySegment raw, long expectedCount) {
        long end = raw.byteSize();
        long offset = 0;
        long count = 0;
        while (offset < end) {
            if (end - offset < LENGTH_BYTES) {
                return new Check.IncompleteLength(end - offset);
            }
            long byteSize = Integer.toUnsignedLong(raw.get(ElementLayouts.INT32, offset));
            count++;
            if (count > expectedCount) {
                return new Check.TooMany(count);
            }
            if (count % ELEMENTS_AT_ONCE == 0) {
                CooperativeYield.now();
            }
            offset += LENGTH_BYTES;
            if (byteSize > end - offset) {
                return new Check.IncompleteElement(byteSize, end - offset);
            }
            offset += byteSize;
        }
        return count == expectedCount ? Check.Complete.COMPLETE : new Check.TooFew(count);
    }

    /** Shows all elements. Throws INVALID_ARGUMENT when the last is cut; {@link #check} first for better texts. */
    public static void forEach(MemorySegment raw, ElementVisitor visitor) {
        long end = raw.byteSize();
        long offset = 0;
        while (offset < end) {
            long byteSize = elementByteSize(raw, offset);
            visitor.element(offset + LENGTH_BYTES, byteSize);
            offset += LENGTH_BYTES + byteSize;
        }
    }

    /** Offset {@code count} elements further, or the end of the raw form. Throws as {@link #elementByteSize}. */
    public static long skip(MemorySegment raw, long offset, long count) {
        long at = offset;
        for (long i = 1; i <= count; i++) {
            at += LENGTH_BYTES + elementByteSize(raw, at);
            if (i % ELEMENTS_AT_ONCE == 0) {
                CooperativeYield.now();
            }
        }
        return at;
    }

    /**
     * The size in bytes of the element whose length stands at {@code offset}; it follows after {@link #LENGTH_BYTES},
     * then the next length. For loops that suit no visitor. Throws INVALID_ARGUMENT when the bytes end within it.
     */
    public static long elementByteSize(MemorySegment raw, long offset) {
        long available = raw.byteSize() - offset;
        if (available < LENGTH_BYTES) {
            throw GatunException.invalidArgument(
                    "a BYTES tensor ends within the length at byte " + offset + ": expected 4 bytes, got " + available);
        }
        long byteSize = Integer.toUnsignedLong(raw.get(ElementLayouts.INT32, offset));
        if (byteSize > available - LENGTH_BYTES) {
            throw GatunException.invalidArgument("a BYTES tensor ends within the element at byte " + offset
                    + ": expected " + byteSize + " bytes, got " + (available - LENGTH_BYTES));
        }
        return byteSize;
    }

    /** The element of {@code byteSize} bytes at {@code offset} as text, with replacement characters for no UTF-8. */
    public static String text(MemorySegment raw, long offset, long byteSize) {
        byte[] bytes = new byte[Math.toIntExact(byteSize)];
        MemorySegment.copy(raw, ValueLayout.JAVA_BYTE, offset, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Bytes that {@code elements} take in raw form. */
    public static long encodedByteSize(List<byte[]> elements) {
        long byteSize = 0;
        for (byte[] element : elements) {
            byteSize += LENGTH_BYTES + element.length;
        }
        return byteSize;
    }

    /** Bytes that {@code texts} take in raw form, in UTF-8. */
    public static long encodedTextByteSize(List<String> texts) {
        long byteSize = 0;
        for (String text : texts) {
            byteSize += LENGTH_BYTES + utf8ByteSize(text);
        }
        return byteSize;
    }

    /** Writes {@code elements} to the start of {@code target}. */
    public static void encode(List<byte[]> elements, MemorySegment target) {
        long offset = 0;
        for (byte[] element : elements) {
            offset = put(target, offset, element);
        }
    }

    /** Writes {@code texts} in UTF-8 to the start of {@code target}. */
    public static void encodeText(List<String> texts, MemorySegment target) {
        long offset = 0;
        for (String text : texts) {
            offset = putText(target, offset, text);
        }
    }

    /** Writes one element at {@code offset} and returns where the next one goes. */
    public static long put(MemorySegment target, long offset, byte[] element) {
        target.set(ElementLayouts.INT32, offset, element.length);
        MemorySegment.copy(element, 0, target, ValueLayout.JAVA_BYTE, offset + LENGTH_BYTES, element.length);
        return offset + LENGTH_BYTES + element.length;
    }

    /** Writes one element, {@code byteSize} bytes of {@code source}, at {@code offset}; returns the next offset. */
    public static long put(MemorySegment target, long offset, MemorySegment source, long sourceOffset, long byteSize) {
        offset = putLength(target, offset, byteSize);
        CooperativeCopy.copy(source, sourceOffset, target, offset, byteSize);
        return offset + byteSize;
    }

    /** Writes an element's length at {@code offset}; returns where the caller places its bytes. */
    public static long putLength(MemorySegment target, long offset, long byteSize) {
        if (byteSize < 0 || byteSize > 0xFFFF_FFFFL) {
            throw new IllegalArgumentException("a BYTES element of " + byteSize
                    + " bytes: expected at most 4294967295, all that its length can say");
        }
        target.set(ElementLayouts.INT32, offset, (int) byteSize);
        return offset + LENGTH_BYTES;
    }

    /** Writes one element, {@code text} in UTF-8, at {@code offset} and returns where the next one goes. */
    public static long putText(MemorySegment target, long offset, String text) {
        long at = offset + LENGTH_BYTES;
        int length = text.length();
        int i = 0;
        for (; i < length && text.charAt(i) < 0x80; i++) {
            target.set(ValueLayout.JAVA_BYTE, at++, (byte) text.charAt(i));
        }
        while (i < length) {
            int codePoint = text.codePointAt(i);
            at = putCodePoint(target, at, codePoint);
            i += Character.charCount(codePoint);
        }
        putLength(target, offset, at - offset - LENGTH_BYTES);
        return at;
    }

    /** Bytes of {@code text} in UTF-8; half of a surrogate pair counts as the one byte that replaces it. */
    public static long utf8ByteSize(String text) {
        long byteSize = 0;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            byteSize += utf8ByteSize(codePoint);
            i += Character.charCount(codePoint);
        }
        return byteSize;
    }

    private static int utf8ByteSize(int codePoint) {
        if (codePoint < 0x80 || isHalfPair(codePoint)) {
            return 1;
        }
        if (codePoint < 0x800) {
            return 2;
        }
        return codePoint < 0x10000 ? 3 : 4;
    }

    private static long putCodePoint(MemorySegment target, long at, int codePoint) {
        int byteSize = utf8ByteSize(codePoint);
        if (byteSize == 1) {
            target.set(ValueLayout.JAVA_BYTE, at, isHalfPair(codePoint) ? REPLACEMENT : (byte) codePoint);
            return at + 1;
        }
        int rest = codePoint;
        for (int i = byteSize - 1; i > 0; i--) {
            target.set(ValueLayout.JAVA_BYTE, at + i, (byte) (0x80 | (rest & 0x3F)));
            rest >>>= 6;
        }
        // As many leading ones as there are bytes.
        int marker = 0xF00 >> byteSize;
        target.set(ValueLayout.JAVA_BYTE, at, (byte) ((marker & 0xFF) | rest));
        return at + byteSize;
    }

    private static boolean isHalfPair(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }
}
