// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests that the model runs again and again: it counts from 0 to what each asks for, one number in each run. */
@Timeout(60)
class IterativeSequenceTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            sequence_batching {
              iterative_sequence: true
              oldest { max_candidate_sequences: 8 }
              control_input [
                { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
                { name: "END" control [ { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } ] },
                { name: "ID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_INT32 } ] }
              ]
              state [ { input_name: "COUNT_IN" output_name: "COUNT_OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            }
            """;

    private static final String DECOUPLED = MODEL + "model_transaction_policy { decoupled: true }";

    private static final int FOR_EVER = Integer.MAX_VALUE;

    /** A request's row as a run of the model got it. */
    private record Row(int id, int starts, int ends, int count) {}

    private final List<List<Row>> runs = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile int failingCount = -1;
    private TestServer test;

    /** The responses that a client of a decoupled model has got so far. */
    private static final class Responses {
        final List<Integer> numbers = new CopyOnWriteArrayList<>();
        volatile boolean last;

        void receive(InferenceResponse response, boolean isLast) {
            try (response) {
                last = isLast;
                response.outputs()
                        .forEach(output -> numbers.add(output.tensor().bytes().get(ElementLayouts.INT32, 0)));
            }
        }
    }

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        // A run that the stop did not wait for gives back its buffers a moment later.
        Await.until("an empty pool", () -> test.pool.usedBytes() == 0);
    }

    private void open(String config) {
        test.model("m", config).open(this::count);
    }

    private void count(Execution execution) {
        int[] limits = integers(execution, "IN");
        int[] counts = integers(execution, "COUNT_IN");
        int[] starts = integers(execution, "START");
        int[] ends = integers(execution, "END");
        int[] ids = integers(execution, "ID");
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < limits.length; i++) {
            rows.add(new Row(ids[i], starts[i], ends[i], counts[i]));
        }
        runs.add(rows);
        Await.opened(gate);
        MemorySegment next = output(execution, execution.outputCount() - 1);
        MemorySegment out = output(execution, 0);
        List<ExecutionRequest> requests = execution.requests();
        for (int i = 0; i < limits.length; i++) {
            if (counts[i] == failingCount) {
                throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
            }
            out.setAtIndex(ElementLayouts.INT32, i, counts[i]);
            next.setAtIndex(ElementLayouts.INT32, i, counts[i] + 1);
            if (counts[i] + 1 < limits[i]) {
                requests.get(i).runAgain();
            }
        }
    }

    private static MemorySegment output(Execution execution, int index) {
        Tensor in = execution.input(0);
        return execution.output(
                index, Datatype.INT32, in.spec().shape(), in.bytes().byteSize());
    }

    private static int[] integers(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i).bytes().toArray(ElementLayouts.INT32);
            }
        }
        throw new AssertionError("no input " + name);
    }

    private InferenceRequest request(int limit) {
        InferenceRequest request = test.request("m");
        test.input(request, "IN", Datatype.INT32, Integer.BYTES, 1, 1);
        request.inputs().getFirst().bytes().set(ElementLayouts.INT32, 0, limit);
        return request;
    }

    private Responses ask(InferenceRequest request) {
        Responses responses = new Responses();
        ask(request, responses);
        return responses;
    }

    private void ask(InferenceRequest request, Responses responses) {
        try (request) {
            test.server().infer(request, responses::receive);
        }
    }

    private Future<Responses> send(InferenceRequest request) {
        return clients.submit(() -> ask(request));
    }

    @Test
    void shouldRunARequestAgainUntilTheModelIsDoneWithIt() {
        open(DECOUPLED);

        Responses responses = ask(request(3));

        assertThat(responses.numbers).containsExactly(0, 1, 2);
        assertThat(responses.last).isTrue();
        assertThat(runs)
                .containsExactly(
                        List.of(new Row(1, 1, 0, 0)), List.of(new Row(1, 0, 0, 1)), List.of(new Row(1, 0, 0, 2)));
        assertThat(test.pool.usedBytes()).as("kept for sequences that ended").isZero();
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.successCount()).isEqualTo(1);
        assertThat(statistics.executionCount()).isEqualTo(3);
    }

    @Test
    void shouldAnswerOnceAtTheEndWhenTheModelIsNotDecoupled() {
        open(MODEL);

        try (InferenceRequest request = request(4);
                InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().get(ElementLayouts.INT32, 0))
                    .isEqualTo(3);
        }
        assertThat(runs).hasSize(4);
    }

    @Test
    void shouldEndASequenceDuringARunThatTakesLongerThanItMayBeIdle() {
        open(DECOUPLED.replace(
                "iterative_sequence: true", "iterative_sequence: true max_sequence_idle_microseconds: 1"));

        Responses responses = new Responses();
        assertThatThrownBy(() -> ask(request(3), responses))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("must specify the START flag on the first request of the sequence");
        assertThat(responses.numbers).containsExactly(0);
        assertThat(runs).hasSize(1);
    }

    @Test
    void shouldNumberTheSequencesAndHeedNoFlagsWhereTheClientNamesNone() {
        open(DECOUPLED);
        InferenceRequest flagged = request(2);
        flagged.sequenceEnd(true);

        ask(flagged);
        ask(request(1));

        assertThat(runs)
                .containsExactly(
                        List.of(new Row(1, 1, 0, 0)), List.of(new Row(1, 0, 0, 1)), List.of(new Row(2, 1, 0, 0)));
    }

    @Test
    void shouldTakeTheClientsOwnNumberAndThenItsFlags() {
        open(DECOUPLED);
        InferenceRequest named = request(2);
        named.correlationId(7);
        named.sequenceStart(true);
        named.sequenceEnd(true);

        ask(named);

        assertThat(runs).containsExactly(List.of(new Row(7, 1, 1, 0)), List.of(new Row(7, 0, 0, 1)));
        InferenceRequest next = request(1);
        next.correlationId(7);
        assertThatThrownBy(() -> ask(next)).hasMessageContaining("must specify the START flag");
    }

    @Test
    void shouldLetTheRequestsThatAClientSendsForOneSequenceTakeTurns() throws Exception {
        open(DECOUPLED);
        gate = new CountDownLatch(1);
        InferenceRequest begin = request(3);
        begin.correlationId(7);
        begin.sequenceStart(true);
        Future<Responses> first = send(begin);
        Await.until("the first run", () -> runs.size() == 1);
        InferenceRequest more = request(5);
        more.correlationId(7);
        Future<Responses> second = send(more);
        Await.until("the second request", () -> pending() == 1);
        gate.countDown();

        assertThat(first.get(30, TimeUnit.SECONDS).numbers)
                .as("the sequence has one count")
                .containsExactly(0, 2);
        assertThat(second.get(30, TimeUnit.SECONDS).numbers).containsExactly(1, 3, 4);
        assertThat(runs).extracting(List::size).containsExactly(1, 1, 1, 1, 1);
        assertThat(test.pool.usedBytes()).as("kept for a sequence that ended").isZero();
    }

    @Test
    void shouldRunTogetherWhatComesWhileOthersAreHalfWay() throws Exception {
        open(DECOUPLED);
        gate = new CountDownLatch(1);
        Future<Responses> first = send(request(3));
        Await.until("the first run", () -> runs.size() == 1);
        Future<Responses> second = send(request(1));
        Await.until("the second request", () -> pending() == 1);
        Future<Responses> third = send(request(2));
        Await.until("the third request", () -> pending() == 2);
        gate.countDown();

        assertThat(first.get(30, TimeUnit.SECONDS).numbers).containsExactly(0, 1, 2);
        assertThat(second.get(30, TimeUnit.SECONDS).numbers).containsExactly(0);
        assertThat(third.get(30, TimeUnit.SECONDS).numbers).containsExactly(0, 1);
        assertThat(runs)
                .containsExactly(
                        List.of(new Row(1, 1, 0, 0)),
                        List.of(new Row(2, 1, 0, 0), new Row(3, 1, 0, 0), new Row(1, 0, 0, 1)),
                        List.of(new Row(3, 0, 0, 1), new Row(1, 0, 0, 2)));
    }

    private long pending() {
        return test.server().statistics().getFirst().totals().pendingRequestCount();
    }

    @Test
    void shouldKeepItsPlaceInTheBatchWhereSequencesDo() {
        open(DECOUPLED.replace("oldest { max_candidate_sequences: 8 }", "direct { }"));

        assertThat(ask(request(2)).numbers).containsExactly(0, 1);
        assertThat(runs).containsExactly(List.of(new Row(1, 1, 0, 0)), List.of(new Row(1, 0, 0, 1)));
    }

    @Test
    void shouldEndARequestThatIsGivenUpBetweenItsRuns() {
        open(DECOUPLED.replace("max_candidate_sequences: 8", "max_candidate_sequences: 1"));
        InferenceRequest endless = request(FOR_EVER);
        Responses responses = new Responses();
        Future<?> asked = clients.submit(() -> ask(endless, responses));
        Await.until("some numbers", () -> responses.numbers.size() > 3);

        endless.cancellation().cancel();

        assertThatThrownBy(() -> asked.get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(GatunException.class)
                .cause()
                .extracting(failure -> ((GatunException) failure).code())
                .isEqualTo(ErrorCode.CANCELLED);
        assertThat(ask(request(1)).numbers).as("the slot is free").containsExactly(0);
        assertThat(test.server().statistics().getFirst().totals().failures().canceled())
                .isEqualTo(1);
    }

    @Test
    void shouldFailARequestWhoseLaterRunFails() {
        open(DECOUPLED);
        failingCount = 2;
        Responses responses = new Responses();

        assertThatThrownBy(() -> ask(request(5), responses)).hasMessage("the engine failed");

        assertThat(responses.numbers).containsExactly(0, 1);
        assertThat(ask(request(2)).numbers).as("the next request").containsExactly(0, 1);
        assertThat(runs.getLast()).containsExactly(new Row(2, 0, 0, 1));
    }

    @Test
    void shouldBringToItsEndWhatWasAcceptedWhenTheServerCloses() throws Exception {
        open(DECOUPLED);
        gate = new CountDownLatch(1);
        Future<Responses> asked = send(request(50));
        Await.until("the first run", () -> runs.size() == 1);
        Future<?> closing = clients.submit(() -> test.server().close());
        Await.until(
                "the server to close", () -> test.server().index().getFirst().state() != ModelState.READY);
        gate.countDown();

        assertThat(asked.get(30, TimeUnit.SECONDS).numbers).hasSize(50).endsWith(48, 49);
        closing.get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldRefuseToRunAgainWhenTheTimeToCloseIsOver() throws Exception {
        test.model("m", DECOUPLED).open(this::count, options -> options.exitTimeout(Duration.ofMillis(100)));
        Responses responses = new Responses();
        Future<?> asked = clients.submit(() -> ask(request(FOR_EVER), responses));
        Await.until("some numbers", () -> responses.numbers.size() > 3);

        test.server().close();

        assertThatThrownBy(() -> asked.get(30, TimeUnit.SECONDS))
                .hasRootCauseInstanceOf(GatunException.class)
                .rootCause()
                .extracting(failure -> ((GatunException) failure).code())
                .isEqualTo(ErrorCode.UNAVAILABLE);
    }

    @Test
    void shouldRefuseToRunAgainWhatIsNotIterative() {
        test.model(
                        "m",
                        "backend: \"scripted\" input [ { name: \"IN\" data_type: TYPE_INT32 dims: [ 1, 1 ] } ]"
                                + " output [ { name: \"OUT\" data_type: TYPE_INT32 dims: [ 1, 1 ] } ]")
                .open(execution -> {
                    ScriptedBackend.copy(execution);
                    execution.requests().getFirst().runAgain();
                });

        assertThatThrownBy(() -> ask(request(2)))
                .hasMessage("Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not"
                        + " configured to handle such a flag. The backend asks to run a request of model 'm' again;"
                        + " add 'iterative_sequence: true' to its 'sequence_batching'");
    }

    @Test
    void shouldWarmUpAModelThatAsksForMore() {
        open(DECOUPLED + """
                model_warmup [ {
                  name: "w" batch_size: 1
                  inputs { key: "IN" value { data_type: TYPE_INT32 dims: [ 1 ] random_data: true } }
                  inputs { key: "START" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }
                  inputs { key: "END" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }
                  inputs { key: "ID" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }
                  inputs { key: "COUNT_IN" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }
                } ]
                """);

        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.READY);
        assertThat(runs).as("runs of the warm-up").hasSize(1);
        assertThat(ask(request(2)).numbers).containsExactly(0, 1);
    }
}
