// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Reads a document of objects, arrays, texts and numbers; each method reads the next value. Every method throws
 * INVALID_ARGUMENT, with the place, where the document has something else or ends. For one thread.
 */
abstract sealed class DocumentReader permits JsonReader, UbjReader {
    /** Deeper than any model; the library's own reader would use up its stack. */
    private static final int MAX_DEPTH = 32;

    static final int MAX_TEXT = 1 << 20;

    private final MemorySegment bytes;
    private final long end;
    private long at;
    private int depth;

    DocumentReader(MemorySegment bytes) {
        this.bytes = bytes;
        this.end = bytes.byteSize();
    }

    /** Calls {@code member} with the name of each member of an object; it must read the value. */
    final void object(Consumer<String> member) {
        enter();
        readObject(member);
        depth--;
    }

    /** Calls {@code element} for each element of an array; it must read the value. */
    final void array(Runnable element) {
        enter();
        readArray(element);
        depth--;
    }

    private void enter() {
        if (++depth > MAX_DEPTH) {
            throw wrong("values within more than " + MAX_DEPTH + " others");
        }
    }

    abstract void readObject(Consumer<String> member);

    abstract void readArray(Runnable element);

    /** A whole number; a number with a fraction is rounded towards zero. */
    abstract long integer();

    abstract String text();

    abstract void skip();

    void requireEnd() {
        if (!isAtEnd()) {
            throw wrong("more behind the model");
        }
    }

    /** Reads an array of any values; returns how many there are. */
    long skipArray() {
        long[] count = new long[1];
        array(() -> {
            skip();
            count[0]++;
        });
        return count[0];
    }

    int[] integers() {
        Integers read = new Integers();
        array(() -> read.add(integer()));
        return read.toArray();
    }

    /** A number in a text, as XGBoost writes parameters. */
    final long integerInText() {
        String text = text();
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw wrong("'" + text + "' where a number was expected");
        }
    }

    /** Numbers as they come. */
    static final class Integers {
        private int[] numbers = new int[16];
        private int count;

        /** Numbers beyond an int are none that any field can have: they become -2. */
        void add(long number) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = number == (int) number ? (int) number : -2;
        }

        int[] toArray() {
            return Arrays.copyOf(numbers, count);
        }
    }

    final boolean isAtEnd() {
        return at >= end;
    }

    /** The next byte, which is not taken; 0 at the end. */
    final byte peek() {
        return at < end ? bytes.get(ValueLayout.JAVA_BYTE, at) : 0;
    }

    /** The byte after that; 0 at the end. */
    final byte peekSecond() {
        return at + 1 < end ? bytes.get(ValueLayout.JAVA_BYTE, at + 1) : 0;
    }

    final byte take() {
        if (at >= end) {
            throw wrong("the end of the file");
        }
        return bytes.get(ValueLayout.JAVA_BYTE, at++);
    }

    /** Takes a number of bytes without looking at them. */
    final void pass(long byteSize) {
        if (byteSize < 0 || byteSize > end - at) {
            throw wrong("the end of the file");
        }
        at += byteSize;
    }

    final void expect(char expected) {
        byte found = take();
        if (found != expected) {
            at--;
            throw wrong(describe(found) + " where '" + expected + "' was expected");
        }
    }

    static String describe(byte found) {
        return found > ' ' && found < 127 ? "'" + (char) found + "'" : "byte " + Byte.toUnsignedInt(found);
    }

    final GatunException wrong(String found) {
        return GatunException.invalidArgument("at byte " + at + " of " + end + " it has " + found);
    }
}
