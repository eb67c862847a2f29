// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.PendingRequest.State;
import gatun.runtime.scheduling.SequencePolicy.Strategy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One instance with one slot, whose clients give up steps that wait. */
class SequenceDispatcherTest {
    private static final long NOW = 1;

    private final List<Step> batch = new ArrayList<>();

    private static final class Step extends PendingRequest {
        Step(String id, boolean starts) {
            makeStep(new SequenceStep(id, starts, false));
        }
    }

    private static SequenceDispatcher<Step> dispatcher(Strategy strategy) {
        SequencePolicy policy = new SequencePolicy(strategy, 1, BatchPolicy.upTo(1, 100), 0, 1_000_000_000_000L, false);
        return new SequenceDispatcher<>(policy, 1, RunPermits.UNLIMITED);
    }

    private static Step submit(SequenceDispatcher<Step> dispatcher, String id, boolean starts) {
        Step step = new Step(id, starts);
        assertThat(dispatcher.submit(step, NOW)).isEqualTo(Admission.ACCEPTED);
        return step;
    }

    private void begin(SequenceDispatcher<Step> dispatcher, Step step) {
        assertThat(dispatcher.take(0, NOW, batch)).isZero();
        assertThat(batch).containsExactly(step);
    }

    private void finish(SequenceDispatcher<Step> dispatcher) {
        batch.forEach(step -> step.step().done());
        dispatcher.finish(batch, NOW);
        batch.forEach(PendingRequest::complete);
        batch.clear();
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndASequenceWithTheStepThatIsGivenUp(Strategy strategy) {
        SequenceDispatcher<Step> dispatcher = dispatcher(strategy);
        Step running = submit(dispatcher, "a", true);
        begin(dispatcher, running);
        Step givenUp = submit(dispatcher, "a", false);
        Step behind = submit(dispatcher, "a", false);
        Step another = submit(dispatcher, "b", true);

        assertThat(dispatcher.withdraw(givenUp, NOW)).isTrue();

        assertThat(givenUp.state()).isEqualTo(State.WITHDRAWN);
        assertThat(behind.state()).isEqualTo(State.WITHDRAWN);
        assertThat(dispatcher.pendingCount()).isOne();
        assertThat(dispatcher.submit(new Step("a", false), NOW)).isEqualTo(Admission.NO_SEQUENCE);
        assertThat(dispatcher.takeEnded()).as("its state, while a step runs").isEmpty();

        finish(dispatcher);
        assertThat(dispatcher.takeEnded()).containsExactly(running.step().sequence());
        begin(dispatcher, another);
    }

    @Test
    void shouldGiveUpTheStepsBeforeItToo() {
        SequenceDispatcher<Step> dispatcher = dispatcher(Strategy.DIRECT);
        Step running = submit(dispatcher, "a", true);
        begin(dispatcher, running);
        Step before = submit(dispatcher, "a", false);
        Step givenUp = submit(dispatcher, "a", false);
        Step behind = submit(dispatcher, "a", false);

        assertThat(dispatcher.withdraw(givenUp, NOW)).isTrue();

        assertThat(before.state()).isEqualTo(State.WITHDRAWN);
        assertThat(behind.state()).isEqualTo(State.WITHDRAWN);
        finish(dispatcher);
        assertThat(running.state()).isEqualTo(State.COMPLETED);
        assertThat(dispatcher.sequenceCount()).isZero();
    }

    @Test
    void shouldGiveUpAllOfASequenceThatWaitsForASlot() {
        SequenceDispatcher<Step> dispatcher = dispatcher(Strategy.OLDEST);
        begin(dispatcher, submit(dispatcher, "a", true));
        Step first = submit(dispatcher, "b", true);
        Step second = submit(dispatcher, "b", false);

        assertThat(dispatcher.withdraw(second, NOW)).isTrue();

        assertThat(first.state()).isEqualTo(State.WITHDRAWN);
        assertThat(second.state()).isEqualTo(State.WITHDRAWN);
        assertThat(dispatcher.sequenceCount()).isOne();
        assertThat(dispatcher.submit(new Step("b", false), NOW)).isEqualTo(Admission.NO_SEQUENCE);
    }

    @Test
    void shouldFreeTheSlotOfASequenceOfWhichNothingHasRun() {
        SequenceDispatcher<Step> dispatcher = dispatcher(Strategy.DIRECT);
        Step first = submit(dispatcher, "a", true);
        Step second = submit(dispatcher, "a", false);

        assertThat(dispatcher.withdraw(first, NOW)).isTrue();

        assertThat(second.state()).isEqualTo(State.WITHDRAWN);
        assertThat(dispatcher.hasFreeSlot()).isTrue();
        assertThat(dispatcher.submit(new Step("a", false), NOW)).isEqualTo(Admission.NO_SEQUENCE);
        begin(dispatcher, submit(dispatcher, "a", true));
    }

    @Test
    void shouldBeginASequenceAnewBesideTheOneWhoseLastStepRuns() {
        SequenceDispatcher<Step> dispatcher = dispatcher(Strategy.DIRECT);
        Step running = submit(dispatcher, "a", true);
        begin(dispatcher, running);
        dispatcher.withdraw(submit(dispatcher, "a", false), NOW);
        Step anew = submit(dispatcher, "a", true);
        Step next = submit(dispatcher, "a", false);

        finish(dispatcher);

        begin(dispatcher, anew);
        assertThat(anew.step().sequence()).isNotSameAs(running.step().sequence());
        finish(dispatcher);
        begin(dispatcher, next);
    }
}
