// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.limits.WorkBudgets.WorkBudget;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WorkBudgetsTest {
    private static final long CALL = WorkBudgets.CALL_NANOS + WorkBudgets.REQUEST_NANOS;
    private static final int ALLOWED_CALLS = (int) (WorkBudgets.ALLOWANCE_NANOS / CALL);

    private final AtomicLong nanos = new AtomicLong(7);
    private final WorkBudgets budgets = new WorkBudgets(nanos::get);

    private static SocketAddress address(int... bytes) throws Exception {
        byte[] address = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            address[i] = (byte) bytes[i];
        }
        return new InetSocketAddress(InetAddress.getByAddress(address), 1);
    }

    private static SocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    /** How many calls a client may throw away, up to a limit. */
    private static int throwAway(WorkBudget budget, int limit) {
        int calls = 0;
        while (calls < limit && budget.abandon(CALL)) {
            calls++;
        }
        return calls;
    }

    @Test
    void shouldCutOffWhoThrowsMoreAwayThanTheAllowance() throws Exception {
        assertThat(throwAway(budgets.of(address(10, 0, 0, 1)), 10_000)).isEqualTo(ALLOWED_CALLS);
    }

    @Test
    void shouldLetAsMuchBeThrownAwayAsWasFinished() throws Exception {
        WorkBudget budget = budgets.of(address(10, 0, 0, 1));

        for (int i = 0; i < 100_000; i++) {
            budget.finish(CALL);
            assertThat(budget.abandon(CALL)).isTrue();
        }

        assertThat(throwAway(budget, 10_000)).as("the allowance is untouched").isEqualTo(ALLOWED_CALLS);
    }

    @Test
    void shouldForgetWorkThatWasFinishedBeyondALimit() throws Exception {
        WorkBudget budget = budgets.of(address(10, 0, 0, 1));

        for (int i = 0; i < 100_000; i++) {
            budget.finish(CALL);
        }

        assertThat(throwAway(budget, 100_000)).isEqualTo((int) (WorkBudgets.MOST_EARNED_NANOS / CALL) + ALLOWED_CALLS);
    }

    @Test
    void shouldGiveTheAllowanceBackWithTime() throws Exception {
        WorkBudget budget = budgets.of(address(10, 0, 0, 1));
        throwAway(budget, 10_000);
        assertThat(budget.delay()).isPositive();

        nanos.addAndGet(budget.delay().toNanos());
        assertThat(budget.delay()).isZero();
        nanos.addAndGet((long) (CALL / WorkBudgets.REFILL));
        assertThat(throwAway(budget, 10)).isEqualTo(1);

        nanos.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(throwAway(budget, 10_000)).isEqualTo(ALLOWED_CALLS);
    }

    @Test
    void shouldDelayNobodyForMoreThanASecond() throws Exception {
        WorkBudget budget = budgets.of(address(10, 0, 0, 1));

        for (int i = 0; i < 1_000_000; i++) {
            budget.abandon(CALL);
        }

        assertThat(budget.delay()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void shouldDelayNewConnectionsOfThisMachineForAMomentOnly() {
        WorkBudget budget = budgets.of(loopback());

        for (int i = 0; i < 1_000_000; i++) {
            budget.abandon(CALL);
        }

        assertThat(budgets.of(loopback()).delay()).isEqualTo(Duration.ofMillis(25));
    }

    @Test
    void shouldTakeAllConnectionsOfANetworkForOneClient() throws Exception {
        throwAway(budgets.of(address(10, 0, 0, 1)), 10_000);
        assertThat(throwAway(budgets.of(address(10, 0, 0, 1)), 10)).isZero();
        assertThat(throwAway(budgets.of(address(10, 0, 0, 2)), 10)).isEqualTo(10);

        throwAway(budgets.of(address(32, 1, 13, 184, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1)), 10_000);
        assertThat(throwAway(budgets.of(address(32, 1, 13, 184, 0, 0, 0, 1, 9, 9, 9, 9, 0, 0, 0, 1)), 10))
                .as("the same network of 64 bits")
                .isZero();
    }

    @Test
    void shouldGiveThoseOnThisMachineWhoThrowWorkAwayOneAllowance() {
        for (int connection = 0; connection < 8; connection++) {
            throwAway(budgets.of(loopback()), ALLOWED_CALLS / 8);
        }
        throwAway(budgets.of(loopback()), 10);

        assertThat(throwAway(budgets.of(loopback()), 10)).isZero();
        assertThat(throwAway(budgets.of(UnixDomainSocketAddress.of("x")), 10)).isZero();
        assertThat(budgets.of(loopback()).delay()).as("of a new connection").isPositive();
    }

    @Test
    void shouldNotCutOffAClientOnThisMachineBecauseOthersThrowWorkAway() {
        WorkBudget finishing = budgets.of(loopback());
        finishing.finish(3 * CALL);
        throwAway(budgets.of(loopback()), 10_000);

        assertThat(throwAway(finishing, 10)).as("calls that it had earned").isEqualTo(3);
    }

    @Test
    void shouldForgetNetworksThatOweNothing() throws Exception {
        WorkBudget owing = budgets.of(address(10, 0, 0, 1));
        throwAway(owing, 10_000);
        for (int i = 0; i < 5000; i++) {
            budgets.of(address(11, 0, i >> 8, i & 255));
            nanos.addAndGet(1);
        }

        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        budgets.of(address(12, 0, 0, 1));

        assertThat(budgets.networkCount()).isEqualTo(2);
        assertThat(budgets.of(address(10, 0, 0, 1))).isSameAs(owing);
    }
}
