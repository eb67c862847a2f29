// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LoanWatchdogTest {
    /** A lender that says itself whether it lends. */
    private static final class Lender implements LoanWatchdog.Lender {
        final AtomicInteger looks = new AtomicInteger();
        volatile boolean lending;
        volatile boolean broken;
        volatile long periodNanos = 5_000_000;
        volatile Thread seenBy = Thread.currentThread();

        @Override
        public boolean isLending() {
            return lending;
        }

        @Override
        public long periodNanos() {
            return periodNanos;
        }

        @Override
        public void look() {
            seenBy = Thread.currentThread();
            looks.incrementAndGet();
            if (broken) {
                throw new IllegalStateException("broken");
            }
        }

        void awaitLooks(int count) {
            int before = looks.get();
            Await.until("looks", () -> looks.get() >= before + count);
        }
    }

    private final LoanWatchdog watchdog = new LoanWatchdog();

    @Test
    void shouldLookWhileSomethingIsLent() {
        Lender lender = new Lender();
        lender.lending = true;
        watchdog.over(lender).noteLoan();

        lender.awaitLooks(LoanWatchdog.QUIET_LOOKS + 10);

        assertThat(lender.seenBy.isVirtual()).isFalse();
    }

    @Test
    void shouldEndItsThreadAfterSomeLooksThatFoundNothingLentAndComeAgain() throws Exception {
        Lender lender = new Lender();
        LoanWatchdog.Watch watch = watchdog.over(lender);
        watch.noteLoan();
        lender.awaitLooks(1);
        Thread first = lender.seenBy;
        first.join();
        assertThat(lender.looks).hasValue(LoanWatchdog.QUIET_LOOKS);

        watch.noteLoan();

        lender.awaitLooks(1);
        assertThat(lender.seenBy).isNotEqualTo(first);
    }

    @Test
    void shouldLookAtAllLendersFromOneThread() {
        Lender first = new Lender();
        Lender second = new Lender();
        first.lending = true;
        second.lending = true;
        watchdog.over(first).noteLoan();
        watchdog.over(second).noteLoan();

        first.awaitLooks(2);
        second.awaitLooks(2);

        assertThat(first.seenBy).isEqualTo(second.seenBy);
    }

    @Test
    void shouldLookAtEachInItsOwnPeriodThoughItSleptForALongerOne() {
        Lender rare = new Lender();
        rare.periodNanos = Long.MAX_VALUE;
        rare.lending = true;
        Lender frequent = new Lender();
        frequent.lending = true;
        watchdog.over(rare).noteLoan();
        Await.until("a sleep", LoanWatchdogTest::isAsleep);
        watchdog.over(frequent).noteLoan();

        frequent.awaitLooks(20);

        assertThat(rare.looks).hasValue(0);
    }

    private static boolean isAsleep() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread ->
                        thread.getName().equals("loan-watchdog") && thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void shouldLookAtOthersThoughOneIsBroken() {
        Lender broken = new Lender();
        broken.broken = true;
        Lender other = new Lender();
        other.lending = true;
        watchdog.over(broken).noteLoan();
        watchdog.over(other).noteLoan();

        broken.awaitLooks(2);
        other.awaitLooks(2);
    }
}
