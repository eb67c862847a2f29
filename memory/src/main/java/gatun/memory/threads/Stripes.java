// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import gatun.bindings.ThreadCore;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.BitSet;

/**
 * Which stripe of striped memory a thread is to use: the one of the core that it runs on, so that a stripe's lines stay
 * in that core's cache. The thread may be on another core the next moment, and others may be on this one, so stripes
 * are changed atomically all the same. Asking takes two or three nanoseconds.
 */
public final class Stripes {
    /** What striped memory takes grows with the stripes; on larger machines some cores share one. */
    private static final int MOST = 256;

    /** A power of two, and 1 on a single core. */
    private static final int COUNT = Math.min(MOST, roundUp(Runtime.getRuntime().availableProcessors()));

    /** The stripes of the cores that this process may use, which need not have the lowest numbers. */
    private static final short[] OF_CORE = ofCores(ThreadCore.allowed());

    private Stripes() {}

    /** How many stripes there are. */
    public static int count() {
        return COUNT;
    }

    /** The calling thread's stripe, less than {@link #count}. */
    public static int current() {
        int core = ThreadCore.current();
        // The system may say nothing, or allow more cores later.
        return core >= 0 && core < OF_CORE.length
                ? OF_CORE[core]
                : (int) Thread.currentThread().threadId() & COUNT - 1;
    }

    private static int roundUp(int count) {
        return count == 1 ? 1 : Integer.highestOneBit(count - 1) << 1;
    }

    private static short[] ofCores(BitSet allowed) {
        short[] stripes = new short[allowed.length()];
        int next = 0;
        for (int core = allowed.nextSetBit(0); core >= 0; core = allowed.nextSetBit(core + 1)) {
            stripes[core] = (short) (next++ & COUNT - 1);
        }
        return stripes;
    }

    /**
     * A number that threads change atomically, in cache lines of its own, so that a write takes nothing beside it from
     * the cores that read that. Thread-safe.
     */
    public static final class PaddedLong {
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

        /** Replaces {@code expected} by {@code next}. Returns what was there: {@code expected} when it did. */
        public long compareAndExchange(long expected, long next) {
            return (long) WORDS.compareAndExchange(words, PADDING, expected, next);
        }
    }
}
