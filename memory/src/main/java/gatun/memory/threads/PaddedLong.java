// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A number that threads change atomically, and that shares no line of a processor's cache with anything else: what lies
 * beside it in memory is not taken from the cores that read it each time that one core writes the number. Safe for any
 * thread.
 */
public final class PaddedLong {
    /** Numbers on each side: two lines, since processors fetch lines in pairs. */
    public static final int PADDING = 128 / Long.BYTES;

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] words = new long[PADDING + 1 + PADDING];

    /** 0. */
    public PaddedLong() {}

    /** The number. */
    public long get() {
        return (long) WORDS.getVolatile(words, PADDING);
    }

    /** Adds {@code delta} and returns the sum. */
    public long addAndGet(long delta) {
        return (long) WORDS.getAndAdd(words, PADDING, delta) + delta;
    }

    /** Sets the bits of {@code mask} and returns what was there before. */
    public long getAndSetBits(long mask) {
        return (long) WORDS.getAndBitwiseOr(words, PADDING, mask);
    }

    /** Replaces {@code expected} by {@code next}; false where it is another number. */
    public boolean compareAndSet(long expected, long next) {
        return WORDS.compareAndSet(words, PADDING, expected, next);
    }

    /** Replaces {@code expected} by {@code next} and returns what was there, which is {@code expected} when it did. */
    public long compareAndExchange(long expected, long next) {
        return (long) WORDS.compareAndExchange(words, PADDING, expected, next);
    }
}
