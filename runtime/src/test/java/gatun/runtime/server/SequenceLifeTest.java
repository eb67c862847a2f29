// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatus.ModelState;
import gatun.testing.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How sequences begin and end, wait for a slot, idle, fail and are given up. */
class SequenceLifeTest extends SequenceRecording {
    @Test
    void shouldBeginAnewWhenARunningSequenceIsStartedAgain() {
        open(2, FOREVER + NUMBERED);

        answer(step(1, 1, "start"));
        answer(step(1, 2, "start"));

        assertThat(runs).containsExactly(List.of(Row.first(1, 1)), List.of(Row.first(1, 2)));
    }

    @Test
    void shouldForgetASequenceThatIdles() {
        open(1, "max_sequence_idle_microseconds: 1\n" + NUMBERED);

        answer(step(1, 1, "start"));
        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request for sequence 1 to model 'm' must specify the START flag on the first request of the"
                        + " sequence",
                () -> answer(step(1, 2, "")));
        assertThat(answer(step(2, 3, "start"))).as("another one gets its slot").isEqualTo(3);
    }

    @Test
    void shouldRunSequencesThatWaitForASlotInTheOrderOfTheirComing() throws Exception {
        open(1, FOREVER + NUMBERED);
        answer(step(1, 10, "start"));
        Future<Float> second = send(step(2, 20, "start"));
        awaitPending(1);
        Future<Float> secondsEnd = send(step(2, 21, "end"));
        awaitPending(2);
        Future<Float> third = send(step(3, 30, "start end"));
        awaitPending(3);
        assertThat(runs).hasSize(1);

        answer(step(1, 11, "end"));

        assertThat(get(second)).isEqualTo(20);
        assertThat(get(secondsEnd)).isEqualTo(21);
        assertThat(get(third)).isEqualTo(30);
        assertThat(runs).extracting(run -> run.getFirst().value()).containsExactly(10f, 11f, 20f, 21f, 30f);
    }

    @Test
    void shouldGiveUpASequenceThatWaitsForASlotForTooLong() throws Exception {
        open(1, FOREVER + NUMBERED);
        answer(step(1, 10, "start"));
        Future<Float> patient = send(step(2, 20, "start"));
        awaitPending(1);
        InferenceRequest hasty = step(2, 21, "");
        hasty.timeoutMicros(1000);

        assertRefused(
                ErrorCode.UNAVAILABLE, "timeout of the corresponding sequence has been expired", () -> answer(hasty));
        assertThatThrownBy(() -> get(patient))
                .hasRootCauseMessage("timeout of the corresponding sequence has been expired");
        assertThat(answer(step(1, 11, ""))).isEqualTo(11);
    }

    @Test
    void shouldGiveUpTheStepsThatFollowOneThatIsGivenUp() throws Exception {
        open(1, FOREVER + NUMBERED);
        answer(step(1, 10, "start"));
        InferenceRequest first = step(2, 20, "start");
        Future<Float> cancelled = send(first);
        awaitPending(1);
        Future<Float> next = send(step(2, 21, ""));
        awaitPending(2);

        first.cancellation().cancel();

        for (Future<Float> answer : List.of(cancelled, next)) {
            assertThatThrownBy(() -> get(answer))
                    .hasCauseInstanceOf(GatunException.class)
                    .cause()
                    .extracting(failure -> ((GatunException) failure).code())
                    .isEqualTo(ErrorCode.CANCELLED);
        }
        assertThat(test.server().statistics().getFirst().totals().failures().canceled())
                .isEqualTo(2);
        answer(step(1, 11, "end"));
        assertThat(runs).hasSize(2);
        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request for sequence 2 to model 'm' must specify the START flag on the first request of the"
                        + " sequence",
                () -> answer(step(2, 22, "")));
    }

    @Test
    void shouldBeginWithTheNextStepWhenTheModelFailsTheFirst() {
        open(2, FOREVER + NUMBERED);
        failing = true;
        assertRefused(ErrorCode.INTERNAL, "the engine failed", () -> answer(step(1, 1, "start")));
        failing = false;

        assertThat(answer(step(1, 2, ""))).isEqualTo(2);
        failing = true;
        assertRefused(ErrorCode.INTERNAL, "the engine failed", () -> answer(step(1, 3, "")));
        failing = false;
        assertThat(answer(step(1, 4, "end"))).isEqualTo(4);

        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(1, 1)),
                        List.of(Row.first(1, 2)),
                        List.of(Row.middle(1, 3)),
                        List.of(Row.last(1, 4)));
    }

    @Test
    void shouldRunSequencesOnAllInstances() throws Exception {
        String config = "backend: \"scripted\" sequence_batching { " + FOREVER + NUMBERED + "}\n"
                + TENSORS.replace("count: 1", "count: 2");
        test.model("m", config).open(this::run);
        gate = new CountDownLatch(1);

        Future<Float> first = send(step(1, 10, "start"));
        Future<Float> second = send(step(2, 20, "start"));
        awaitRuns(2);
        gate.countDown();

        assertThat(get(first)).isEqualTo(10);
        assertThat(get(second)).isEqualTo(20);
        assertThat(answer(step(1, 11, "end"))).isEqualTo(11);
    }

    @Test
    void shouldAnswerWhatWasAcceptedWhenTheServerCloses() throws Exception {
        open(1, FOREVER + NUMBERED);
        gate = new CountDownLatch(1);
        Future<Float> first = send(step(1, 10, "start"));
        awaitRuns(1);
        Future<Float> next = send(step(1, 11, ""));
        awaitPending(1);
        Future<Float> waiting = send(step(2, 20, "start"));
        awaitPending(2);
        Future<?> closing = clients.submit(() -> test.server().close());
        awaitRefusal();
        gate.countDown();

        assertThat(get(first)).isEqualTo(10);
        assertThat(get(next)).isEqualTo(11);
        assertThat(get(waiting)).isEqualTo(20);
        closing.get(30, TimeUnit.SECONDS);
        assertThat(test.backend.open).hasValue(0);
    }

    private void awaitRefusal() {
        Await.until(
                "the server to refuse requests",
                () -> test.server().index().getFirst().state() != ModelState.READY);
    }
}
