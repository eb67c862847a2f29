package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.Tensor;
import gatun.runtime.spi.Execution;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sequences of requests, one after the other and several at a time, to a model that writes down what it gets. */
@Timeout(60)
class SequenceBatchingTest {
    private static final String TENSORS = """
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String FLAGS = """
            control_input [
              { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ -1, 7 ] } ] },
              { name: "END" control [ { kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0.5, 1.5 ] } ] },
              { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY bool_false_true: [ false, true ] } ] }
            """;

    private static final String NUMBERED =
            FLAGS + ", { name: \"ID\" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] } ]\n";

    private static final String NAMED =
            FLAGS + ", { name: \"ID\" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } ] } ]\n";

    private static final String FOREVER = "max_sequence_idle_microseconds: 60000000\n";

    /** What the model got in one row. */
    private record Row(int start, float end, boolean ready, String id, float value) {
        static final Row GAP = new Row(-1, 0.5f, false, "0", 0);

        Row withId(String other) {
            return new Row(start, end, ready, other, value);
        }

        static Row first(long id, float value) {
            return new Row(7, 0.5f, true, Long.toString(id), value);
        }

        static Row middle(long id, float value) {
            return new Row(-1, 0.5f, true, Long.toString(id), value);
        }

        static Row last(long id, float value) {
            return new Row(-1, 1.5f, true, Long.toString(id), value);
        }
    }

    private final List<List<Row>> runs = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private TestServer test;
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile boolean failing;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    private void open(int maxBatchSize, String sequenceBatching) {
        String config = "backend: \"scripted\" max_batch_size: " + maxBatchSize + " sequence_batching { "
                + sequenceBatching + "}\n" + TENSORS;
        test.model("m", config).open(this::run);
    }

    private void run(Execution execution) {
        runs.add(rows(execution));
        try {
            assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (failing) {
            throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
        }
        ScriptedBackend.copy(execution);
    }

    private static List<Row> rows(Execution execution) {
        Tensor values = execution.input(0);
        int count = (int) values.spec().shape().dim(0);
        MemorySegment starts = control(execution, "START", Datatype.INT32);
        MemorySegment ends = control(execution, "END", Datatype.FP32);
        MemorySegment ready = control(execution, "READY", Datatype.BOOL);
        Tensor ids = input(execution, "ID");
        List<String> names = new ArrayList<>();
        if (ids.spec().datatype() == Datatype.BYTES) {
            BytesCodec.forEach(
                    ids.bytes(), (offset, byteSize) -> names.add(BytesCodec.text(ids.bytes(), offset, byteSize)));
        } else {
            for (int i = 0; i < count; i++) {
                names.add(Long.toUnsignedString(ids.bytes().getAtIndex(ElementLayouts.INT64, i)));
            }
        }
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(new Row(
                    starts.getAtIndex(ElementLayouts.INT32, i),
                    ends.getAtIndex(ElementLayouts.FP32, i),
                    ready.get(ValueLayout.JAVA_BYTE, i) != 0,
                    names.get(i),
                    values.bytes().getAtIndex(ElementLayouts.FP32, i)));
        }
        return rows;
    }

    private static MemorySegment control(Execution execution, String name, Datatype datatype) {
        Tensor control = input(execution, name);
        assertThat(control.spec().datatype()).isEqualTo(datatype);
        assertThat(control.spec().shape().elementCount())
                .isEqualTo(control.spec().shape().dim(0));
        return control.bytes();
    }

    private static Tensor input(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i);
            }
        }
        throw new AssertionError("no input " + name);
    }

    private InferenceRequest step(long id, float value, String flags) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        return step(request, value, flags);
    }

    private InferenceRequest step(InferenceRequest request, float value, String flags) {
        request.sequenceStart(flags.contains("start"));
        request.sequenceEnd(flags.contains("end"));
        boolean batching = request.model().config().getMaxBatchSize() > 0;
        test.input(request, "IN", batching ? new long[] {1, 1} : new long[] {1});
        request.inputs().getFirst().bytes().setAtIndex(ElementLayouts.FP32, 0, value);
        return request;
    }

    /** The one value of the answer. */
    private float answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            Tensor out = response.outputs().getFirst().tensor();
            assertThat(out.spec().shape())
                    .isEqualTo(request.inputs().getFirst().spec().shape());
            return out.bytes().getAtIndex(ElementLayouts.FP32, 0);
        }
    }

    private Future<Float> send(InferenceRequest request) {
        return clients.submit(() -> answer(request));
    }

    private static float get(Future<Float> answer) throws Exception {
        return answer.get(30, TimeUnit.SECONDS);
    }

    private void awaitPending(long count) throws TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (test.server().statistics().getFirst().pendingRequestCount() != count) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("waiting for " + count + " requests in the queue");
            }
            Thread.onSpinWait();
        }
    }

    private void awaitRuns(int count) throws TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (runs.size() < count) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("waiting for run " + count);
            }
            Thread.onSpinWait();
        }
    }

    private static void assertRefused(ErrorCode code, String text, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(GatunException.class, e -> {
            assertThat(e.code()).isEqualTo(code);
            assertThat(e).hasMessage(text);
        });
    }

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
        List<Future<Float>> answers = new ArrayList<>();
        answers.add(send(step(1, 10, "start")));
        awaitRuns(1);
        answers.add(send(step(2, 20, "start")));
        awaitPending(1);
        answers.add(send(step(1, 11, "")));
        awaitPending(2);
        answers.add(send(step(1, 12, "end")));
        awaitPending(3);
        gate.countDown();

        for (Future<Float> answer : answers) {
            get(answer);
        }
        assertThat(runs)
                .containsExactly(
                        List.of(Row.first(1, 10)),
                        List.of(Row.middle(1, 11), Row.first(2, 20)),
                        List.of(Row.last(1, 12)));
        assertThat(answers.get(1).get()).isEqualTo(20);
        assertThat(answers.get(2).get()).isEqualTo(11);
    }

    @Test
    void shouldBeginAnewWhenARunningSequenceIsStartedAgain() {
        open(2, FOREVER + NUMBERED);

        answer(step(1, 1, "start"));
        answer(step(1, 2, "start"));

        assertThat(runs).containsExactly(List.of(Row.first(1, 1)), List.of(Row.first(1, 2)));
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
        assertThat(test.server().statistics().getFirst().failureOther()).isEqualTo(3);
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
    void shouldBeginWithTheNextStepWhenTheFirstIsGivenUpWhileItWaits() throws Exception {
        open(1, FOREVER + NUMBERED);
        answer(step(1, 10, "start"));
        InferenceRequest first = step(2, 20, "start");
        Future<Float> cancelled = send(first);
        awaitPending(1);
        Future<Float> next = send(step(2, 21, ""));
        awaitPending(2);

        first.cancellation().cancel();
        assertThatThrownBy(() -> get(cancelled)).hasCauseInstanceOf(GatunException.class);
        answer(step(1, 11, "end"));

        assertThat(get(next)).isEqualTo(21);
        assertThat(runs.getLast()).containsExactly(Row.first(2, 21));
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
    void shouldRunOneStepOfEachSequenceWithoutGapsWhereTheOldestComeFirst() throws Exception {
        open(4, FOREVER + NUMBERED + "oldest { max_candidate_sequences: 8 }\n");
        gate = new CountDownLatch(1);
        List<Future<Float>> answers = new ArrayList<>();
        answers.add(send(step(1, 10, "start")));
        awaitRuns(1);
        for (int id = 2; id <= 7; id++) {
            answers.add(send(step(id, 10 * id, "start")));
            awaitPending(id - 1);
        }
        answers.add(send(step(2, 21, "end")));
        awaitPending(7);
        gate.countDown();

        for (Future<Float> answer : answers) {
            get(answer);
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

    private void awaitRefusal() throws TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (test.server().index().getFirst().state() == ModelState.READY) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("waiting for the server to refuse requests");
            }
            Thread.onSpinWait();
        }
    }
}
