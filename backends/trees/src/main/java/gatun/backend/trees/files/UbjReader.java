// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** Reads UBJSON as XGBoost writes it: names and texts have a length of eight bytes, and objects no length. */
final class UbjReader extends DocumentReader {
    UbjReader(MemorySegment bytes) {
        super(bytes);
    }

    @Override
    void readObject(Consumer<String> member) {
        expect('{');
        while (peek() != '}') {
            member.accept(longText());
        }
        take();
    }

    @Override
    void readArray(Runnable element) {
        expect('[');
        if (peek() == '$') {
            throw wrong("an array of plain numbers where one of values was expected");
        }
        if (peek() == '#') {
            long count = length();
            for (long i = 0; i < count; i++) {
                element.run();
            }
            return;
        }
        while (peek() != ']') {
            element.run();
        }
        take();
    }

    private byte elementType() {
        expect('$');
        byte type = take();
        if (width(type) == 0) {
            throw wrong("an array of elements of type " + describe(type));
        }
        return type;
    }

    private long length() {
        expect('#');
        expect('L');
        long length = bigEndian(Long.BYTES);
        if (length < 0) {
            throw wrong("a length of " + length);
        }
        return length;
    }

    @Override
    long skipArray() {
        if (!isTyped()) {
            return super.skipArray();
        }
        expect('[');
        byte type = elementType();
        long count = length();
        // Not all at once: the product may be beyond any number.
        for (long i = 0; i < count; i++) {
            pass(width(type));
        }
        return count;
    }

    @Override
    int[] integers() {
        if (!isTyped()) {
            return super.integers();
        }
        expect('[');
        byte type = elementType();
        long count = length();
        Integers read = new Integers();
        for (long i = 0; i < count; i++) {
            read.add(number(type));
        }
        return read.toArray();
    }

    private boolean isTyped() {
        return peek() == '[' && peekSecond() == '$';
    }

    /** The bytes of a number; 0 for what is none. */
    private static int width(byte type) {
        return switch (type) {
            case 'i', 'U' -> Byte.BYTES;
            case 'I' -> Short.BYTES;
            case 'l', 'd' -> Integer.BYTES;
            case 'L', 'D' -> Long.BYTES;
            default -> 0;
        };
    }

    @Override
    long integer() {
        return number(take());
    }

    private long number(byte type) {
        int width = width(type);
        if (width == 0) {
            throw wrong("a value of type " + describe(type) + " where a number was expected");
        }
        long bits = bigEndian(width);
        return switch (type) {
            case 'U' -> bits & 0xFF;
            case 'd' -> (long) Float.intBitsToFloat((int) bits);
            case 'D' -> (long) Double.longBitsToDouble(bits);
            default -> bits;
        };
    }

    private long bigEndian(int width) {
        long bits = take(); // with its sign
        for (int i = 1; i < width; i++) {
            bits = bits << Byte.SIZE | Byte.toUnsignedLong(take());
        }
        return bits;
    }

    @Override
    String text() {
        expect('S');
        return longText();
    }

    private String longText() {
        expect('L');
        long length = bigEndian(Long.BYTES);
        if (length < 0 || length > MAX_TEXT) {
            throw wrong("a text of " + length + " bytes");
        }
        byte[] text = new byte[(int) length];
        for (int i = 0; i < text.length; i++) {
            text[i] = take();
        }
        return new String(text, ISO_8859_1);
    }

    @Override
    void skip() {
        switch (peek()) {
            case '{' -> object(name -> skip());
            case '[' -> skipArray();
            case 'S' -> text();
            case 'T', 'F', 'Z' -> take();
            default -> {
                byte type = take();
                if (width(type) == 0) {
                    throw wrong("a value of type " + describe(type));
                }
                pass(width(type));
            }
        }
    }
}
