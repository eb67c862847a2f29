// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * For how long a virtual thread has kept its carrier without waiting for anything, and when it is to give way. A thread
 * that finds its client's next request there each time never waits, and as many of them as there are carriers would
 * leave none to all others. One for each thread's work; not thread-safe.
 */
public final class CarrierTurn {
    /** The longest turn: of many short requests, or of one that takes longer. */
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** What takes so long has waited, and let others have the carrier. */
    private static final long WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    private final BooleanSupplier isNobodyWaiting;
    private long beganNanos = System.nanoTime();

    /** A turn that begins now. */
    public CarrierTurn() {
        this(CarrierQueue::isEmpty);
    }

    CarrierTurn(BooleanSupplier isNobodyWaiting) {
        this.isNobodyWaiting = isNobodyWaiting;
    }

    /**
     * The thread is about to do what may wait: gives way first, where its turn was long and others wait, or may do. To be
     * called where it holds no lock.
     *
     * @return a reading of {@link System#nanoTime}, for {@link #end}
     */
    public long begin() {
        long now = System.nanoTime();
        if (now - beganNanos < LONGEST_NANOS) {
            return now;
        }
        // Giving way takes a tenth of such a turn, and the carrier may fall asleep.
        if (!isNobodyWaiting.getAsBoolean()) {
            CooperativeYield.now();
        }
        beganNanos = System.nanoTime();
        return beganNanos;
    }

    /** The thread has done what could have waited. */
    public void end(long begunNanos) {
        long now = System.nanoTime();
        if (now - begunNanos >= WAIT_NANOS) {
            beganNanos = now;
        }
    }
}
