// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives a virtual thread's carrier to others now and then while the thread works through many bytes. Nothing takes a
 * carrier away from a virtual thread that computes, so that as many long requests as there are carriers would leave
 * none for short ones. One for each piece of work; costs nothing before its first step is done. Not thread-safe.
 */
public final class CooperativeYield {
    /** Bytes between two yields of work like parsing and inflating, a millisecond or two. */
    public static final int STEP = 256 * 1024;

    /** The same for deflating, which takes longer. */
    public static final int DEFLATION_STEP = 32 * 1024;

    /** The same for copying, which moves eight bytes in the time that parsing takes for one. */
    public static final int COPY_STEP = 8 * STEP;

    private static final LongAdder COUNT = new LongAdder();

    private final int step;
    private long left;

    /** Work of which nothing is done, with {@code step} bytes between two yields. */
    public CooperativeYield(int step) {
        this.step = step;
        this.left = step;
    }

    /** So many more bytes have been worked through. To be called where the thread holds no lock. */
    public void worked(long byteSize) {
        left -= byteSize;
        if (left <= 0) {
            left = step;
            now();
        }
    }

    /**
     * Where a loop over bytes is to stop that stands at {@code position}: at {@code end}, or where it yields before
     * that. Costs a loop nothing for each of its bytes:
     *
     * <pre>{@code
     * for (long stop = stop(at, end); at < end; stop = yieldAt(at, end)) {
     *     while (at < stop) {
     *         // one byte after the other
     *     }
     * }
     * }</pre>
     */
    public static long stop(long position, long end) {
        return Math.min(end, position + STEP);
    }

    /** Yields where a loop that {@link #stop} has stopped goes on, and returns where it is to stop next. */
    public static long yieldAt(long position, long end) {
        if (position < end) {
            now();
        }
        return stop(position, end);
    }

    /** How often virtual threads of this process have yielded by this class. */
    public static long count() {
        return COUNT.sum();
    }

    /** Yields to threads that wait for a carrier; for work that counts itself. Not under a lock. */
    @SuppressWarnings("ThreadPriorityCheck") // the scheduler of virtual threads is the JDK's own
    public static void now() {
        if (Thread.currentThread().isVirtual()) {
            COUNT.increment();
            // Either alone starves others for seconds: a carrier goes on with its own queue while that has threads,
            // where a yield puts this
            // one, and with the queue that it served last, where the timer of a park puts it. One after the other comes
            // to all queues.
            Thread.yield();
            LockSupport.parkNanos(1);
        }
    }
}
