// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatistics;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences of a decoupled model, whose steps have any number of responses: IN, IN + 1, and so on. */
@Timeout(60)
class DecoupledSequenceTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 4
            model_transaction_policy { decoupled: true }
            input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String SEQUENCES = "sequence_batching { max_sequence_idle_microseconds: 60000000 ";

    /** A response as a client got it. */
    private record Got(int value, boolean last) {}

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<List<String>> runs = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private TestServer test;

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

    private void open(String config, Consumer<Execution> script) {
        test.model("m", config).open(execution -> {
            runs.add(execution.requests().stream()
                    .map(request ->
                            request.correlationId().map(Object::toString).orElse("gap"))
                    .toList());
            Await.opened(gate);
            script.accept(execution);
        });
    }

    /** Makes OUT: each row's IN, and {@code more}. */
    private static void make(Execution execution, int more) {
        Tensor in = execution.input(0);
        Shape shape = in.spec().shape();
        MemorySegment out = execution.output(0, Datatype.INT32, shape, shape.byteSize(Datatype.INT32));
        for (int i = 0; i < shape.elementCount(); i++) {
            out.setAtIndex(ElementLayouts.INT32, i, in.bytes().getAtIndex(ElementLayouts.INT32, i) + more);
        }
    }

    private static void sendThree(Execution execution) {
        for (int i = 0; i < 3; i++) {
            make(execution, i);
            if (i < 2) {
                execution.send();
            }
        }
    }

    private InferenceRequest step(long id, int value, boolean starts, boolean ends) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        request.sequenceStart(starts);
        request.sequenceEnd(ends);
        test.input(request, "IN", Datatype.INT32, Integer.BYTES, 1, 1);
        request.inputs().getFirst().bytes().set(ElementLayouts.INT32, 0, value);
        return request;
    }

    private List<Got> ask(InferenceRequest request) {
        List<Got> got = new CopyOnWriteArrayList<>();
        ask(request, got);
        return got;
    }

    private void ask(InferenceRequest request, List<Got> got) {
        try (request) {
            test.server().infer(request, (response, last) -> {
                try (response) {
                    got.add(new Got(
                            response.outputs().getFirst().tensor().bytes().get(ElementLayouts.INT32, 0), last));
                }
            });
        }
    }

    private long pending() {
        return test.server().statistics().getFirst().totals().pendingRequestCount();
    }

    /** Begins three sequences with the values 10, 20 and 30, of which the last two run together. */
    private List<Future<List<Got>>> three() {
        gate = new CountDownLatch(1);
        Future<List<Got>> first = clients.submit(() -> ask(step(1, 10, true, false)));
        Await.until("the first run", () -> runs.size() == 1);
        Future<List<Got>> second = clients.submit(() -> ask(step(2, 20, true, false)));
        Await.until("the second step", () -> pending() == 1);
        Future<List<Got>> third = clients.submit(() -> ask(step(3, 30, true, false)));
        Await.until("the third step", () -> pending() == 2);
        gate.countDown();
        return List.of(first, second, third);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct { } }", "oldest { } }"})
    void shouldGiveEachSequenceOfABatchItsOwnResponses(String strategy) throws Exception {
        open(MODEL + SEQUENCES + strategy, DecoupledSequenceTest::sendThree);

        List<Future<List<Got>>> responses = three();

        for (int i = 0; i < 3; i++) {
            int value = 10 * (i + 1);
            assertThat(responses.get(i).get(30, TimeUnit.SECONDS))
                    .containsExactly(new Got(value, false), new Got(value + 1, false), new Got(value + 2, true));
        }
        assertThat(runs)
                .containsExactly(
                        List.of("1"), strategy.startsWith("direct") ? List.of("gap", "2", "3") : List.of("2", "3"));
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.successCount()).isEqualTo(3);
        assertThat(statistics.executionCount()).isEqualTo(2);
    }

    @Test
    void shouldLeaveOutOfAResponseWhomTheModelDoes() throws Exception {
        open(MODEL + SEQUENCES + "direct { } }", execution -> {
            make(execution, 0);
            for (ExecutionRequest request : execution.requests()) {
                if (!request.correlationId().toString().contains("3")) {
                    request.skipResponse();
                }
            }
            execution.send();
            make(execution, 1);
        });

        List<Future<List<Got>>> responses = three();

        assertThat(responses.get(0).get(30, TimeUnit.SECONDS)).containsExactly(new Got(11, true));
        assertThat(responses.get(1).get(30, TimeUnit.SECONDS)).containsExactly(new Got(21, true));
        assertThat(responses.get(2).get(30, TimeUnit.SECONDS)).containsExactly(new Got(30, false), new Got(31, true));
    }

    @Test
    void shouldGoOnForTheOthersWhenOneClientGivesUp() throws Exception {
        CountDownLatch given = new CountDownLatch(1);
        InferenceRequest[] impatient = new InferenceRequest[1];
        List<Got> gotBefore = new CopyOnWriteArrayList<>();
        open(MODEL + SEQUENCES + "oldest { } }", execution -> {
            make(execution, 0);
            execution.send();
            if (execution.requests().size() == 2) {
                Await.until("the client's response", () -> !gotBefore.isEmpty());
                impatient[0].cancellation().cancel();
                given.countDown();
            }
            make(execution, 1);
            execution.send();
        });
        gate = new CountDownLatch(1);
        Future<?> blocker = clients.submit(() -> ask(step(1, 10, true, true)));
        Await.until("the first run", () -> runs.size() == 1);
        impatient[0] = step(2, 20, true, false);
        Future<?> second = clients.submit(() -> ask(impatient[0], gotBefore));
        Await.until("the second step", () -> pending() == 1);
        Future<List<Got>> third = clients.submit(() -> ask(step(3, 30, true, false)));
        Await.until("the third step", () -> pending() == 2);
        gate.countDown();

        blocker.get(30, TimeUnit.SECONDS);
        assertThat(third.get(30, TimeUnit.SECONDS)).containsExactly(new Got(30, false), new Got(31, false));
        assertThatThrownBy(() -> second.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(given.getCount()).isZero();
        assertThat(gotBefore).containsExactly(new Got(20, false));
        assertThat(test.server().statistics().getFirst().totals().failures().canceled())
                .isEqualTo(1);
    }

    @Test
    void shouldGiveTheResponsesOfABatchThatCameBeforeItsFailure() throws Exception {
        open(MODEL + SEQUENCES + "oldest { } }", execution -> {
            make(execution, 0);
            execution.send();
            if (execution.requests().size() == 2) {
                throw new GatunException(ErrorCode.INTERNAL, "broke half way");
            }
        });

        List<Future<List<Got>>> responses = three();

        assertThat(responses.get(0).get(30, TimeUnit.SECONDS)).containsExactly(new Got(10, false));
        for (Future<List<Got>> answer : responses.subList(1, 3)) {
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("broke half way");
        }
        assertThat(test.server().statistics().getFirst().totals().failures().backend())
                .isEqualTo(2);
    }

    @Test
    void shouldServeADecoupledModelWithBatchInputs() {
        String batchInput =
                "batch_input [ { kind: BATCH_ELEMENT_COUNT target_name: \"COUNTS\" data_type: TYPE_INT32 source_input:"
                        + " \"IN\" } ]";
        open(MODEL + batchInput, execution -> {
            assertThat(execution.input(1).spec().name()).isEqualTo("COUNTS");
            sendThree(execution);
        });

        assertThat(ask(step(1, 5, false, false)))
                .containsExactly(new Got(5, false), new Got(6, false), new Got(7, true));
    }
}
