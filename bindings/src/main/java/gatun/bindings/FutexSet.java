// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Words that one thread waits for ({@code futex_waitv}), with expected values. Not thread-safe. */
public final class FutexSet {
    /** The most words. */
    public static final int CAPACITY = 128;

    /** {@code struct futex_waitv}: the value and the address, 64 bits each, flags of 32 bits and as many reserved. */
    private static final long WAITER_BYTES = 24;

    private static final long ADDRESS_OFFSET = 8;
    private static final long FLAGS_OFFSET = 16;

    /** {@code FUTEX2_SIZE_U32}, for words that processes share. */
    private static final int SIZE_32 = 2;

    private final MemorySegment waiters = Arena.ofAuto().allocate(CAPACITY * WAITER_BYTES, Long.BYTES);
    private int count;

    /** An empty set. */
    public FutexSet() {}

    /** Takes all words out. */
    public void clear() {
        count = 0;
    }

    /**
     * Adds the word at {@code address}, which has to stay mapped while this waits.
     *
     * @throws IndexOutOfBoundsException beyond {@link #CAPACITY}
     */
    public void add(long address, int expected) {
        long at = count * WAITER_BYTES;
        waiters.set(JAVA_LONG, at, Integer.toUnsignedLong(expected));
        waiters.set(JAVA_LONG, at + ADDRESS_OFFSET, address);
        waiters.set(JAVA_INT, at + FLAGS_OFFSET, SIZE_32);
        count++;
    }

    /** Sleeps until one of the words is woken, or has another value than expected; perhaps for no reason. */
    public void await() {
        Futex.awaitAny(waiters, count);
    }
}
