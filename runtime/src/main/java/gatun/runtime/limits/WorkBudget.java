// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** A client's budget of wasted work ({@link WorkBudgets}), which finished work covers first. Thread-safe. */
public final class WorkBudget {
    /** How often one looks whether a client that waits is still there. */
    private static final long LOOK_PERIOD_NANOS = Duration.ofMillis(20).toNanos();

    private final WorkBudgets.Allowance allowance;

    /** Finished work that has covered nothing yet, in nanoseconds. */
    private final AtomicLong earned = new AtomicLong();

    WorkBudget(WorkBudgets.Allowance allowance) {
        this.allowance = allowance;
    }

    /** The client got what it asked for: {@code nanos} of work. */
    public void finish(long nanos) {
        long before = earned.get();
        // Once a client has earned all that is remembered, this is one read.
        while (before < WorkBudgets.MOST_EARNED_NANOS) {
            long seen = earned.compareAndExchange(before, Math.min(WorkBudgets.MOST_EARNED_NANOS, before + nanos));
            if (seen == before) {
                return;
            }
            before = seen;
        }
    }

    /** {@code nanos} of work are thrown away; false when that was too much, and the client is to be cut off. */
    public boolean abandon(long nanos) {
        long covered = Math.min(nanos, earned.getAndUpdate(before -> before - Math.min(before, nanos)));
        return covered == nanos || allowance.take(nanos - covered) >= 0;
    }

    /** Whether the client of a connection has left. */
    @FunctionalInterface
    public interface Presence {
        /** Looks, without waiting. Throws {@link IOException} when the connection fails. */
        boolean hasLeft() throws IOException;
    }

    /**
     * Waits until the client owes no work, for a limited time: on a new connection, before anything is run for it. Parks
     * the calling thread, which should be virtual.
     *
     * @return false when the client has left meanwhile, or the thread is interrupted
     * @throws IOException when the connection fails
     */
    public boolean awaitTurn(Presence client) throws IOException {
        long end = System.nanoTime() + delay().toNanos();
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            if (client.hasLeft() || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(this, Math.min(left, LOOK_PERIOD_NANOS));
        }
        return true;
    }

    /** How long the client has to wait until it owes nothing; zero for most. */
    public Duration delay() {
        long owed = earned.get() > 0 ? 0 : -allowance.take(0);
        return owed <= 0 ? Duration.ZERO : Duration.ofNanos((long) (owed / WorkBudgets.REFILL));
    }

    boolean hasWholeAllowance() {
        return allowance.take(0) == WorkBudgets.ALLOWANCE_NANOS;
    }
}
