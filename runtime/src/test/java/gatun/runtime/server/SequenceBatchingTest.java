// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import gatun.memory.tensor.ErrorCode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The rows that a model gets from sequences of requests, one after the other and several at a time. */
class SequenceBatchingTest extends SequenceRecording {
    @Test
    void shouldTellTheModelWhereEachStepStands() {
        open(4, FOREVER + NUMBERED);

        assertThat(answer(step(-1, 1, "start"))).isEqualTo(1);
        assertThat(answer(step(-1, 2, ""))).isEqualTo(2);
        assertThat(answer(step(-1, 3, "end"))).isEqualTo(3);

        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(-1, 1).withId("18446744073709551615")),
                        List.of(Row.middle(-1, 2).withId("18446744073709551615")),
                        List.of(Row.last(-1, 3).withId("18446744073709551615")));
    }

    @Test
    void shouldServeAModelWithoutABatchDimension() {
        open(0, FOREVER + NUMBERED);

        assertThat(answer(step(5, 1, "start"))).isEqualTo(1);
        assertThat(answer(step(5, 2, "end"))).isEqualTo(2);

        assertThat(runs).containsExactly(List.of(Row.first(5, 1)), List.of(Row.last(5, 2)));
    }

    @Test
    void shouldTellTheModelTheNameOfASequence() {
        open(2, FOREVER + NAMED);
        InferenceRequest first = test.request("m");
        first.correlationId("Größe");
        InferenceRequest other = test.request("m");
        other.correlationId("b");

        answer(step(first, 1, "start"));
        answer(step(other, 2, "start"));

        assertThat(runs.get(0)).containsExactly(Row.first(0, 1).withId("Größe"));
        assertThat(runs.get(1))
                .containsExactly(Row.GAP.withId(""), Row.first(0, 2).withId("b"));
    }

    @Test
    void shouldNotCountGapsAsInferences() {
        open(2, FOREVER + NUMBERED);

        answer(step(1, 10, "start"));
        answer(step(2, 20, "start"));

        ModelStatistics counted = test.server().statistics("m", "").getFirst();
        assertThat(counted.totals().inferenceCount()).isEqualTo(2);
        assertThat(counted.batches())
                .extracting(BatchStatistics::batchSize, BatchStatistics::executionCount)
                .containsExactly(tuple(1, 1L), tuple(2, 1L));
    }

    @Test
    void shouldKeepEachSequenceInItsPlaceOfTheBatch() {
        open(4, FOREVER + NUMBERED);

        answer(step(1, 10, "start"));
        answer(step(2, 20, "start"));
        answer(step(3, 30, "start"));
        answer(step(2, 21, ""));
        answer(step(1, 11, "end"));
        answer(step(4, 40, "start"));

        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(1, 10)),
                        List.of(Row.GAP, Row.first(2, 20)),
                        List.of(Row.GAP, Row.GAP, Row.first(3, 30)),
                        List.of(Row.GAP, Row.middle(2, 21)),
                        List.of(Row.last(1, 11)),
                        List.of(Row.first(4, 40)));
    }

    @Test
    void shouldRunTheStepsOfDifferentSequencesTogetherAndThoseOfOneInOrder() throws Exception {
        open(4, FOREVER + NUMBERED);
        gate = new CountDownLatch(1);
        List<Future<Float>> responses = new ArrayList<>();
        responses.add(send(step(1, 10, "start")));
        awaitRuns(1);
        responses.add(send(step(2, 20, "start")));
        awaitPending(1);
        responses.add(send(step(1, 11, "")));
        awaitPending(2);
        responses.add(send(step(1, 12, "end")));
        awaitPending(3);
        gate.countDown();

        for (Future<Float> response : responses) {
            get(response);
        }
        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(1, 10)),
                        List.of(Row.middle(1, 11), Row.first(2, 20)),
                        List.of(Row.last(1, 12)));
        assertThat(responses.get(1).get()).isEqualTo(20);
        assertThat(responses.get(2).get()).isEqualTo(11);
    }

    @Test
    void shouldRefuseStepsThatBelongToNoSequence() {
        open(4, FOREVER + NUMBERED);

        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request to model 'm' must specify a non-zero or non-empty correlation ID",
                () -> answer(step(0, 1, "start")));
        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request for sequence 9 to model 'm' must specify the START flag on the first request of the"
                        + " sequence",
                () -> answer(step(9, 1, "end")));
        answer(step(9, 1, "start end"));
        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request for sequence 9 to model 'm' must specify the START flag on the first request of the"
                        + " sequence",
                () -> answer(step(9, 1, "")));
        assertThat(test.server().statistics().getFirst().totals().failures().other())
                .isEqualTo(3);
    }

    @Test
    void shouldRefuseABatchOfSteps() {
        open(4, FOREVER + NUMBERED);
        InferenceRequest request = test.request("m");
        request.correlationId(1);
        request.sequenceStart(true);
        test.input(request, "IN", 2, 1);

        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "inference request to model 'm' must specify batch-size 1 due to requirements of sequence batcher",
                () -> answer(request));
    }

    @Test
    void shouldRefuseAnIdOfAKindThatTheModelDoesNotTake() {
        open(4, FOREVER + NUMBERED);
        InferenceRequest request = test.request("m");
        request.correlationId("a");
        request.id("r");
        assertRefused(
                ErrorCode.INVALID_ARGUMENT,
                "[request id: r] sequence batching control 'ID' data-type is 'BYTES', but model 'm' expects 'UINT64'",
                () -> answer(step(request, 1, "start")));
    }

    @Test
    void shouldRunOneStepOfEachSequenceWithoutGapsWhereTheOldestComeFirst() throws Exception {
        open(4, FOREVER + NUMBERED + "oldest { max_candidate_sequences: 8 }\n");
        gate = new CountDownLatch(1);
        List<Future<Float>> responses = new ArrayList<>();
        responses.add(send(step(1, 10, "start")));
        awaitRuns(1);
        for (int id = 2; id <= 7; id++) {
            responses.add(send(step(id, 10 * id, "start")));
            awaitPending(id - 1);
        }
        responses.add(send(step(2, 21, "end")));
        awaitPending(7);
        gate.countDown();

        for (Future<Float> response : responses) {
            get(response);
        }
        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(1, 10)),
                        List.of(Row.first(2, 20), Row.first(3, 30), Row.first(4, 40), Row.first(5, 50)),
                        List.of(Row.first(6, 60), Row.first(7, 70), Row.last(2, 21)));
    }

    @Test
    void shouldLetStepsWaitForOthersUntilEnoughSlotsAreTaken() throws Exception {
        open(
                4,
                FOREVER + NUMBERED
                        + "direct { max_queue_delay_microseconds: 30000000 minimum_slot_utilization: 0.5 }\n");
        Future<Float> first = send(step(1, 10, "start"));
        awaitPending(1);
        Future<Float> second = send(step(2, 20, "start"));

        assertThat(get(first)).isEqualTo(10);
        assertThat(get(second)).isEqualTo(20);
        assertThat(runs).containsExactly(List.of(Row.first(1, 10), Row.first(2, 20)));
    }
}
