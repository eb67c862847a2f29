// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.spi.EngineLostException;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that ran together with one that the model cannot take: a number below zero. */
@Timeout(60)
class FailedBatchTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 8
            dynamic_batching { }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    /** Keeps the instance busy until others wait. */
    private static final float BLOCKING = 1000;

    private final List<Integer> runs = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private volatile CountDownLatch busy = new CountDownLatch(1);
    private volatile CountDownLatch gate = new CountDownLatch(1);
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    /** @param refusal of a run with a number below zero */
    private void open(String config, Consumer<Float> refusal) {
        test.model("m", config).open(execution -> {
            Tensor input = execution.input(0);
            if (value(input, 0) == BLOCKING) {
                busy.countDown();
                Await.opened(gate);
            } else {
                runs.add(execution.requests().size());
            }
            refuse(execution, refusal);
            ScriptedBackend.copy(execution);
        });
    }

    private static void refuse(Execution execution, Consumer<Float> refusal) {
        Tensor input = execution.input(0);
        for (int i = 0; i < execution.requests().size(); i++) {
            if (value(input, i) < 0) {
                // The output was begun, as an engine does.
                execution.output(0, input.spec().datatype(), input.spec().shape(), input.byteSize());
                refusal.accept(value(input, i));
            }
        }
    }

    private static float value(Tensor tensor, int index) {
        return tensor.bytes().getAtIndex(ValueLayout.JAVA_FLOAT, index);
    }

    private static void refuseAsWrong(float value) {
        throw GatunException.invalidArgument(value + " is no index");
    }

    private InferenceRequest request(String sender, float value) {
        InferenceRequest request = test.input(test.request("m"), "IN", 1, 1);
        request.inputs().getFirst().bytes().setAtIndex(ValueLayout.JAVA_FLOAT, 0, value);
        request.sender(new ClientQuotaKey(sender));
        return request;
    }

    private Future<InferenceResponse> infer(InferenceRequest request) {
        return clients.submit(() -> test.server().infer(request));
    }

    /** Has requests wait for the instance until all of them are there. */
    private List<Future<InferenceResponse>> together(InferenceRequest... requests) throws Exception {
        busy = new CountDownLatch(1);
        gate = new CountDownLatch(1);
        runs.clear();
        Future<InferenceResponse> blocking = infer(request("blocking", BLOCKING));
        Await.opened(busy);
        List<Future<InferenceResponse>> responses = new ArrayList<>();
        for (InferenceRequest request : requests) {
            responses.add(infer(request));
            int waiting = responses.size();
            Await.until(waiting + " to wait", () -> statistics().totals().pendingRequestCount() == waiting);
        }
        gate.countDown();
        blocking.get(20, TimeUnit.SECONDS).close();
        return responses;
    }

    private ModelStatistics statistics() {
        return test.server().statistics("m", "1").getFirst();
    }

    private static void shouldAnswer(Future<InferenceResponse> response, float value) throws Exception {
        try (InferenceResponse answered = response.get(20, TimeUnit.SECONDS)) {
            assertThat(value(answered.outputs().getFirst().tensor(), 0)).isEqualTo(value);
        }
    }

    private static void shouldFail(Future<InferenceResponse> response, String reason) {
        assertThatThrownBy(() -> response.get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(GatunException.class)
                .hasMessageContaining(reason);
    }

    static Stream<Consumer<Float>> errorsOfTheModel() {
        return Stream.of(
                FailedBatchTest::refuseAsWrong,
                value -> {
                    throw new GatunException(ErrorCode.INTERNAL, "cannot take " + value);
                },
                value -> {
                    throw new IndexOutOfBoundsException(Math.round(value));
                });
    }

    @ParameterizedTest
    @MethodSource("errorsOfTheModel")
    void shouldFailTheRequestThatTheModelCannotTakeAndNoOther(Consumer<Float> refusal) throws Exception {
        open(MODEL, refusal);

        List<Future<InferenceResponse>> responses = together(request("a", 1), request("b", -2), request("c", 3));

        shouldAnswer(responses.get(0), 1);
        shouldFail(responses.get(1), "");
        shouldAnswer(responses.get(2), 3);
        assertThat(runs).containsExactly(3, 1, 1, 1);
    }

    @Test
    void shouldTellEachRequestItsOwnError() throws Exception {
        open(MODEL, FailedBatchTest::refuseAsWrong);

        List<Future<InferenceResponse>> responses = together(request("a", -1), request("b", -2));

        shouldFail(responses.get(0), "-1.0 is no index");
        shouldFail(responses.get(1), "-2.0 is no index");
    }

    @Test
    void shouldCountWhatBecomesOfEachRequest() throws Exception {
        open(MODEL, FailedBatchTest::refuseAsWrong);

        for (Future<InferenceResponse> response : together(request("a", 1), request("b", -2), request("c", 3))) {
            try {
                response.get(20, TimeUnit.SECONDS).close();
            } catch (ExecutionException e) {
                assertThat(e).hasMessageContaining("-2.0 is no index");
            }
        }

        ModelStatistics counted = statistics();
        assertThat(counted.totals().successCount())
                .as("with the one that kept the instance busy")
                .isEqualTo(3);
        assertThat(counted.totals().failures().backend()).isEqualTo(1);
        assertThat(counted.batches()).hasSize(1).first().satisfies(batch -> {
            assertThat(batch.batchSize()).isEqualTo(1);
            assertThat(batch.executionCount()).isEqualTo(3);
        });
    }

    static Stream<Supplier<GatunException>> failuresOfAll() {
        return Stream.of(
                () -> new EngineLostException("crashed"),
                () -> new GatunException(ErrorCode.UNAVAILABLE, "out of memory"),
                () -> new GatunException(ErrorCode.RESOURCE_EXHAUSTED, "over a limit"),
                () -> new GatunException(ErrorCode.CANCELLED, "ended"));
    }

    @ParameterizedTest
    @MethodSource("failuresOfAll")
    void shouldNotRunAgainAfterWhatIsNoErrorOfTheModel(Supplier<GatunException> failure) throws Exception {
        open(MODEL, value -> {
            throw failure.get();
        });

        for (Future<InferenceResponse> response : together(request("a", 1), request("b", -2))) {
            shouldFail(response, failure.get().getMessage());
        }
        assertThat(runs).containsExactly(2);
    }

    @Test
    void shouldNotRunARequestAgainThatWasGivenUpMeanwhile() throws Exception {
        InferenceRequest[] given = new InferenceRequest[1];
        open(MODEL, value -> {
            given[0].cancellation().cancel();
            refuseAsWrong(value);
        });
        given[0] = request("a", 1);

        List<Future<InferenceResponse>> responses = together(given[0], request("b", -2), request("c", 3));

        assertThatThrownBy(() -> responses.get(0).get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        shouldFail(responses.get(1), "-2.0 is no index");
        shouldAnswer(responses.get(2), 3);
        assertThat(runs).containsExactly(3, 1, 1);
    }

    @Test
    void shouldRunTheRequestsOfASenderAloneAfterOneHasFailedOthers() throws Exception {
        open(MODEL, FailedBatchTest::refuseAsWrong);
        for (Future<InferenceResponse> response : together(request("good", 1), request("bad", -2))) {
            try {
                response.get(20, TimeUnit.SECONDS).close();
            } catch (ExecutionException e) {
                assertThat(e).hasMessageContaining("-2.0 is no index");
            }
        }

        List<Future<InferenceResponse>> responses = together(
                request("good", 1), request("other", 2), request("bad", -3), request("good", 4), request("other", 5));

        shouldAnswer(responses.get(0), 1);
        shouldAnswer(responses.get(1), 2);
        shouldFail(responses.get(2), "-3.0 is no index");
        shouldAnswer(responses.get(3), 4);
        shouldAnswer(responses.get(4), 5);
        assertThat(runs).containsExactly(2, 1, 2);
    }

    @Test
    void shouldRunRequestsAloneThatFailOnlyTogether() throws Exception {
        test.model("m", MODEL).open(execution -> {
            if (value(execution.input(0), 0) == BLOCKING) {
                busy.countDown();
                Await.opened(gate);
            } else {
                runs.add(execution.requests().size());
            }
            if (execution.requests().size() > 1) {
                throw GatunException.invalidArgument("one at a time");
            }
            ScriptedBackend.copy(execution);
        });

        for (Future<InferenceResponse> response : together(request("a", 1), request("b", 1))) {
            shouldAnswer(response, 1);
        }
        assertThat(runs).containsExactly(2, 1, 1);
        for (Future<InferenceResponse> response : together(request("a", 1), request("b", 1))) {
            shouldAnswer(response, 1);
        }
        assertThat(runs).containsExactly(1, 1);
    }
}
