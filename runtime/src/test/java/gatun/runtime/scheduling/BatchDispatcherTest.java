// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Dispatcher.Admission;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BatchDispatcherTest {
    private static BatchDispatcher<Job> dispatcher(BatchPolicy policy, int instanceCount, RunPermits turns) {
        return new BatchDispatcher<>(
                policy,
                instanceCount,
                turns,
                RunPlacement.of(true),
                new AdaptiveBatchDelay(policy, AdaptiveBatchDelayTest.learning()));
    }

    private static final class Job extends PendingRequest {}

    @Test
    void shouldNotCountARequestAsWaitingForWhichAnInstanceIsOnItsWay() {
        Dispatcher<Job> dispatcher = dispatcher(BatchPolicy.single(1), 1, RunPermits.UNLIMITED);
        Job first = new Job();
        Job second = new Job();
        List<Job> batch = new ArrayList<>();

        assertThat(dispatcher.submit(first, 1)).isEqualTo(Admission.ACCEPTED);
        assertThat(dispatcher.instanceToWake(1)).isZero();
        assertThat(dispatcher.submit(second, 2)).isEqualTo(Admission.ACCEPTED);
        assertThat(dispatcher.instanceToWake(2)).isEqualTo(Dispatcher.NONE);
        assertThat(dispatcher.submit(new Job(), 3)).isEqualTo(Admission.QUEUE_FULL);

        assertThat(dispatcher.take(0, 4, batch)).isZero();
        assertThat(batch).containsExactly(first);
        assertThat(dispatcher.submit(new Job(), 5)).isEqualTo(Admission.QUEUE_FULL);
        assertThat(dispatcher.withdraw(second, 5)).isTrue();
        assertThat(dispatcher.submit(new Job(), 6)).isEqualTo(Admission.ACCEPTED);
    }

    @Test
    void shouldPutARequestBackThatWaitedTooLongWhenItWantsThat() {
        BatchPolicy policy = new BatchPolicy(4, List.of(4), 0, false, QueueCapacities.all(10));
        Dispatcher<Job> dispatcher = dispatcher(policy, 1, RunPermits.UNLIMITED);
        Job late = new Job();
        late.limitWait(0, 10, true);
        Job punctual = new Job();
        Job less = new Job();
        less.limitWait(1, 0, false);
        dispatcher.submit(less, 1);
        dispatcher.submit(late, 2);
        dispatcher.submit(punctual, 3);
        dispatcher.expire(late);

        List<Job> batch = new ArrayList<>();
        dispatcher.take(0, 20, batch);

        assertThat(batch).containsExactly(punctual, late, less);
    }

    /** Whether a request that comes beside a run is lent an idle instance, after runs that took so long. */
    private static boolean lendsBeside(long runNanos, int waiting) {
        BatchDispatcher<Job> dispatcher = dispatcher(BatchPolicy.upTo(4, 10), 2, RunPermits.UNLIMITED);
        List<Job> none = new ArrayList<>();
        dispatcher.take(0, 1, none);
        dispatcher.take(1, 1, none);
        for (int i = 0; i < 2 * AdaptiveBatchDelay.COMPANY; i++) {
            dispatcher.recordRun(0, runNanos, waiting, i);
        }
        Job first = new Job();
        assertThat(dispatcher.mayLend(first)).isTrue();
        assertThat(dispatcher.lend(first)).isNotEqualTo(Dispatcher.NONE);
        return dispatcher.mayLend(new Job());
    }

    @Test
    void shouldLendInstancesBesideOneAnotherToLongRunsThatComeAlone() {
        assertThat(lendsBeside(500_000, 0)).isTrue();
        assertThat(lendsBeside(50_000, 0))
                .as("short runs gather while another wakes")
                .isFalse();
    }

    @Test
    void shouldLetRequestsGatherWhereTheyHaveComeTogether() {
        AdaptiveBatchDelay gathering =
                new AdaptiveBatchDelay(BatchPolicy.upTo(4, 10), AdaptiveBatchDelayTest.learning());
        assertThat(gathering.hasCompany()).isFalse();

        for (int i = 0; i < AdaptiveBatchDelay.COMPANY; i++) {
            gathering.begun(0, 1, 1);
            gathering.ended(0, 500_000, 3, i);
        }

        assertThat(gathering.hasCompany()).isTrue();
    }

    /** RunPermits that come when the test says so. */
    private static final class HandedOutTurns implements RunPermits {
        final Set<Integer> had = new HashSet<>();
        final List<Integer> declined = new ArrayList<>();

        @Override
        public boolean ask(int instance) {
            return had.contains(instance);
        }

        @Override
        public void decline(int instance) {
            declined.add(instance);
        }
    }

    private final HandedOutTurns turns = new HandedOutTurns();
    private final List<Job> batch = new ArrayList<>();

    @Test
    void shouldLeaveRequestsInTheQueueWhileNoInstanceHasItsTurn() {
        BatchPolicy policy = new BatchPolicy(2, List.of(2), 0, false, QueueCapacities.all(10));
        Dispatcher<Job> dispatcher = dispatcher(policy, 1, turns);
        Job late = new Job();
        late.limitWait(0, 30, false);
        Job unwanted = new Job();
        Job less = new Job();
        less.limitWait(1, 0, false);
        dispatcher.submit(late, 1);
        dispatcher.submit(unwanted, 2);
        dispatcher.submit(less, 3);
        assertThat(dispatcher.instanceToWake(3)).isZero();

        assertThat(dispatcher.take(0, 4, batch)).isEqualTo(Dispatcher.FOREVER);
        assertThat(batch).isEmpty();
        assertThat(dispatcher.withdraw(unwanted, 4)).isTrue();
        dispatcher.expire(late);
        assertThat(late.state()).isEqualTo(PendingRequest.State.EXPIRED);
        Job urgent = new Job();
        dispatcher.submit(urgent, 40);
        assertThat(dispatcher.instanceToWake(40))
                .as("the only one waits for its turn")
                .isEqualTo(Dispatcher.NONE);

        turns.had.add(0);
        assertThat(dispatcher.take(0, 50, batch)).isZero();
        assertThat(batch).containsExactly(urgent, less);
        assertThat(turns.declined).isEmpty();
    }

    @Test
    void shouldHaveAnotherInstanceRunWhatOneWithoutItsTurnCannot() {
        Dispatcher<Job> dispatcher = dispatcher(BatchPolicy.single(10), 2, turns);
        Job job = new Job();
        dispatcher.submit(job, 1);
        int first = dispatcher.instanceToWake(1);
        assertThat(dispatcher.take(first, 2, batch)).isEqualTo(Dispatcher.FOREVER);
        int second = dispatcher.instanceToWake(2);
        assertThat(second).isEqualTo(1 - first);

        turns.had.add(second);
        assertThat(dispatcher.take(second, 3, batch)).isZero();
        assertThat(batch).containsExactly(job);
        assertThat(turns.declined).as("has nothing to run any more").containsExactly(first);
    }

    @Test
    void shouldGiveUpATurnThatNobodyNeedsAnyMore() {
        Dispatcher<Job> dispatcher = dispatcher(BatchPolicy.single(10), 1, turns);
        Job job = new Job();
        dispatcher.submit(job, 1);
        dispatcher.instanceToWake(1);
        dispatcher.take(0, 2, batch);
        assertThat(dispatcher.withdraw(job, 2)).isTrue();
        assertThat(turns.declined).containsExactly(0);

        dispatcher.submit(new Job(), 3);
        assertThat(dispatcher.instanceToWake(3)).as("it is idle again").isZero();
    }

    @Test
    void shouldEndAnInstanceThatWaitsForItsTurnWhenTheSchedulerStops() {
        Dispatcher<Job> dispatcher = dispatcher(BatchPolicy.single(10), 1, turns);
        Job job = new Job();
        dispatcher.submit(job, 1);
        dispatcher.instanceToWake(1);
        dispatcher.take(0, 2, batch);
        dispatcher.drain(2);
        assertThat(dispatcher.take(0, 3, batch))
                .as("what was accepted still runs")
                .isEqualTo(Dispatcher.FOREVER);
        dispatcher.stop(3);
        assertThat(job.state()).isEqualTo(PendingRequest.State.REFUSED);
        assertThat(dispatcher.take(0, 4, batch)).isEqualTo(Dispatcher.END);
        assertThat(turns.declined).containsExactly(0);
    }
}
