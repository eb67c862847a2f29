// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.memory.threads.FailureLog;
import gatun.memory.threads.SupervisedThread;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after threads that were lent to runs, on a platform thread of its own, since runs may hold all carriers of
 * virtual ones. The thread exists only while something is lent now and then. Thread-safe.
 */
public final class LoanWatchdog {
    /** The one of this process. */
    public static final LoanWatchdog OF_THIS_JVM = new LoanWatchdog();

    /** Between two looks at the same lender. */
    static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A lender is left alone after so many looks, a second, that found nothing lent. */
    static final int QUIET_LOOKS = 200;

    private static final Logger LOG = LoggerFactory.getLogger(LoanWatchdog.class);

    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean running = new AtomicBoolean();

    /** Whoever lends threads. Called by the watchdog's thread only, and must not wait. */
    public interface Lender {
        /** Whether anything is lent now. */
        boolean isLending();

        /** Does what is to be done about loans that last. Called once each period. */
        void look();
    }

    /** The watch over one lender. Thread-safe. */
    public final class Watch {
        private final Lender lender;
        private volatile boolean looking;

        /** Of the watchdog's thread. */
        private int quietLooks;

        private Watch(Lender lender) {
            this.lender = lender;
        }

        /** To be called after each loan has become visible to the lender. Costs a read while the watchdog looks. */
        public void noteLoan() {
            if (!looking) {
                looking = true;
                watches.add(this);
                start();
            }
        }

        private void look() {
            lender.look();
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
        }
    }

    private void watch() {
        do {
            while (!watches.isEmpty()) {
                LockSupport.parkNanos(this, PERIOD_NANOS);
                watches.forEach(LoanWatchdog::look);
            }
            running.set(false);
        } while (!watches.isEmpty() && running.compareAndSet(false, true));
    }

    /** One lender's fault keeps no other from being looked at. */
    private static void look(Watch watch) {
        try {
            watch.look();
        } catch (Throwable t) {
            FailureLog.write(t, failure -> LOG.error("A look at what is lent has failed", failure));
        }
    }
}
