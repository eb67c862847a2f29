// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.memory.threads.FailureLog;
import gatun.memory.threads.SupervisedThread;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Watches lent threads from a platform thread, which exists only while something is lent. Thread-safe. */
public final class LoanWatchdog {
    /** The one of this process. */
    public static final LoanWatchdog OF_THIS_JVM = new LoanWatchdog();

    /** A lender is left alone after so many looks that found nothing lent. */
    static final int QUIET_LOOKS = 200;

    /** So that two looks are over after 15 ms at most; each costs the processor 30 us. */
    private static final long PERIOD_NANOS = TimeUnit.MICROSECONDS.toNanos(7500);

    private static final Logger LOG = LoggerFactory.getLogger(LoanWatchdog.class);

    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean running = new AtomicBoolean();
    private volatile @Nullable Thread thread;

    /** Whoever lends threads. Called by the watchdog's thread only, and must not wait. */
    public interface Lender {
        /** Whether anything is lent now. */
        boolean isLending();

        /** How long it is between two looks; may change. What two of them see has lasted for one to two periods. */
        default long periodNanos() {
            return PERIOD_NANOS;
        }

        /** Does what is to be done about loans that last. Called once each period. */
        void look();
    }

    /** The watch over one lender. Thread-safe. */
    public final class Watch {
        private final Lender lender;
        private volatile boolean looking;

        // Of the watchdog's thread, once this is among the watches.
        private int quietLooks;
        private long lastPeriod;

        private Watch(Lender lender) {
            this.lender = lender;
        }

        /** To be called after each loan has become visible to the lender. Costs a read while the watchdog looks. */
        public void noteLoan() {
            if (!looking) {
                looking = true;
                lastPeriod = period(System.nanoTime());
                watches.add(this);
                start();
            }
        }

        /** Looks once in each period; equal periods begin together. Returns the time until the next. */
        private long look(long nowNanos) {
            long present = period(nowNanos);
            if (present != lastPeriod) {
                lastPeriod = present;
                look();
            }
            long length = lender.periodNanos();
            return length - Math.floorMod(nowNanos, length);
        }

        private long period(long nanos) {
            return Math.floorDiv(nanos, lender.periodNanos());
        }

        /** One lender's fault keeps no other from being looked at. */
        private void look() {
            try {
                lender.look();
            } catch (Throwable t) {
                FailureLog.write(t, failure -> LOG.error("A look at what is lent has failed", failure));
            }
            endIfQuiet();
        }

        private void endIfQuiet() {
            quietLooks = lender.isLending() ? 0 : quietLooks + 1;
            if (quietLooks < QUIET_LOOKS) {
                return;
            }
            quietLooks = 0;
            watches.remove(this);
            looking = false;
            if (lender.isLending()) {
                noteLoan(); // It was lent in between, and perhaps by one who still saw this looking.
            }
        }
    }

    /** Looks after nothing yet. */
    LoanWatchdog() {}

    /** A watch over a lender, which begins with its first loan. */
    public Watch over(Lender lender) {
        return new Watch(lender);
    }

    private void start() {
        if (running.compareAndSet(false, true)) {
            SupervisedThread.start("loan-watchdog", this::watch);
        } else {
            LockSupport.unpark(thread); // It may sleep for longer than the new lender's period.
        }
    }

    private void watch() {
        thread = Thread.currentThread();
        do {
            while (!watches.isEmpty()) {
                long now = System.nanoTime();
                long left = Long.MAX_VALUE;
                for (Watch watch : watches) {
                    left = Math.min(left, watch.look(now));
                }
                LockSupport.parkNanos(this, left);
            }
            running.set(false);
        } while (!watches.isEmpty() && running.compareAndSet(false, true));
    }
}
