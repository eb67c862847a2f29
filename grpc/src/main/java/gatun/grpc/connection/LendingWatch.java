// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Has calls that last give up the reading threads which they {@linkplain LentReader run on}, so that a client is heard
 * that cancels its call, begins another, or leaves. Looks only while threads are lent now and then. Safe for any thread.
 */
final class LendingWatch {
    /** Between two looks: for so long, and twice as long at most, a call keeps a connection from being read. */
    private static final Duration PERIOD = Duration.ofMillis(10);

    /** A connection is looked at no more after so many looks that found nothing lent. */
    private static final int QUIET_LOOKS = 100;

    private final DeadlineTimer timer;
    private final Set<LentReader> lenders = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    /** @param timer tells when to look */
    LendingWatch(DeadlineTimer timer) {
        this.timer = timer;
    }

    /** Looks at a connection from now on, which lends its thread for the first time after a while. */
    void add(LentReader lender) {
        lenders.add(lender);
        if (looking.compareAndSet(false, true)) {
            timer.runAfter(PERIOD, this::look);
        }
    }

    private void look() {
        if (timer.isClosed()) {
            return;
        }
        try {
            List<LentReader> quiet =
                    lenders.stream().filter(lender -> !lender.look(QUIET_LOOKS)).toList();
            quiet.forEach(this::leaveAlone);
        } finally {
            lookAgain();
        }
    }

    private void lookAgain() {
        if (lenders.isEmpty()) {
            looking.set(false);
            if (lenders.isEmpty() || !looking.compareAndSet(false, true)) {
                return;
            }
        }
        timer.runAfter(PERIOD, this::look);
    }

    private void leaveAlone(LentReader lender) {
        lenders.remove(lender);
        if (lender.endWatch()) {
            lenders.add(lender);
        }
    }
}
