// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.spi.Execution;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DecoupledTest {
    private static final String TENSORS = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "MORE" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String DECOUPLED = TENSORS + "model_transaction_policy { decoupled: true }";

    /** A response as a test's receiver got it. */
    private record Got(List<String> outputs, float value, boolean last, String parameter) {}

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Got> got = new ArrayList<>();
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder).model("many", DECOUPLED).model("one", TENSORS);
    }

    @AfterEach
    void close() {
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private InferenceRequest request(String model) {
        return test.input(test.request(model), "IN", 2);
    }

    /** Makes output {@code index}, of one element. */
    private static void make(Execution execution, int index, float value) {
        execution.output(index, Datatype.FP32, Shape.of(1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, value);
    }

    private static void sendThree(Execution execution) {
        for (int i = 0; i < 3; i++) {
            make(execution, 0, i);
            execution.send();
        }
    }

    private void receive(InferenceResponse response, boolean last) {
        try (response) {
            List<String> names = response.outputs().stream()
                    .map(output -> output.tensor().spec().name())
                    .toList();
            float value = names.isEmpty()
                    ? -1
                    : response.outputs().getFirst().tensor().bytes().get(ValueLayout.JAVA_FLOAT, 0);
            got.add(new Got(
                    names, value, last, String.valueOf(response.parameters().get("note"))));
        }
    }

    private ModelStatistics statistics(String model) {
        return test.server().statistics(model, "").getFirst();
    }

    @Test
    void shouldGiveEachResponseInOrderAndEndWithoutOneMore() {
        test.open(DecoupledTest::sendThree);
        test.server().infer(request("many"), this::receive);
        assertThat(got).extracting(Got::value).containsExactly(0f, 1f, 2f);
        assertThat(got).noneMatch(Got::last);
        assertThat(statistics("many").successCount()).isEqualTo(1);
        assertThat(statistics("many").executionCount()).isEqualTo(1);
    }

    @Test
    void shouldSendWhatIsLeftAtTheEndAsTheLastResponse() {
        test.open(execution -> {
            sendThree(execution);
            make(execution, 0, 7);
            make(execution, 1, 8);
            execution.requests().getFirst().responseParameter("note", new ParameterValue.Text("the end"));
        });
        test.server().infer(request("many"), this::receive);
        assertThat(got).hasSize(4);
        assertThat(got.get(2)).isEqualTo(new Got(List.of("OUT"), 2, false, "null"));
        assertThat(got.getLast()).isEqualTo(new Got(List.of("OUT", "MORE"), 7, true, "Text[value=the end]"));
    }

    @Test
    void shouldEndWithoutAnyResponse() {
        test.open(execution -> {});
        test.server().infer(request("many"), this::receive);
        assertThat(got).isEmpty();
        assertThat(statistics("many").successCount()).isEqualTo(1);
    }

    @Test
    void shouldGiveTheResponsesThatCameBeforeAFailure() {
        test.open(execution -> {
            sendThree(execution);
            make(execution, 0, 9);
            throw new GatunException(ErrorCode.INTERNAL, "broke half way");
        });
        assertThatThrownBy(() -> test.server().infer(request("many"), this::receive))
                .isInstanceOf(GatunException.class)
                .hasMessage("broke half way");
        assertThat(got).extracting(Got::value).containsExactly(0f, 1f, 2f);
        assertThat(statistics("many").totals().failures().backend()).isEqualTo(1);
    }

    @Test
    void shouldRunRequestsOfADecoupledModelOneAtATimeThoughTheyWaitForABatch() throws Exception {
        AtomicInteger most = new AtomicInteger();
        test.model("batches", DECOUPLED + " max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 50000 }")
                .open(execution -> {
                    most.accumulateAndGet(execution.requests().size(), Math::max);
                    execution
                            .output(0, Datatype.FP32, Shape.of(1, 1), Float.BYTES)
                            .fill((byte) 0);
                });
        List<Future<?>> answers = new ArrayList<>();
        AtomicInteger responses = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            answers.add(clients.submit(
                    () -> test.server().infer(test.input(test.request("batches"), "IN", 1, 2), (response, last) -> {
                        response.close();
                        responses.incrementAndGet();
                    })));
        }
        for (Future<?> answer : answers) {
            answer.get(30, TimeUnit.SECONDS);
        }
        assertThat(most).hasValue(1);
        assertThat(responses).hasValue(10);
    }

    @Test
    void shouldLetTheInstanceWaitForASlowClient() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicInteger sent = new AtomicInteger();
        test.open(execution -> {
            for (int i = 0; i < 100; i++) {
                make(execution, 0, i);
                execution.send();
                sent.incrementAndGet();
            }
        });
        Future<?> answer = clients.submit(() -> test.server().infer(request("many"), (response, last) -> {
            try {
                assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            receive(response, last);
        }));
        // One response is with the receiver, and as many as may wait do.
        awaitAtLeast(sent, 9);
        assertThat(sent).hasValueLessThanOrEqualTo(9);
        assertThat(got).isEmpty();
        gate.countDown();
        answer.get(30, TimeUnit.SECONDS);
        assertThat(got).hasSize(100);
        assertThat(got.getLast().value()).isEqualTo(99);
    }

    private static void awaitAtLeast(AtomicInteger counter, int value) {
        Await.until(Integer.toString(value), () -> counter.get() >= value);
    }

    @Test
    void shouldEndRequestsWhoseReceiversWaitForEachOther() throws Exception {
        test.open(DecoupledTest::sendThree);
        ReentrantLock turn = new ReentrantLock();
        AtomicInteger responses = new AtomicInteger();
        List<Future<?>> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            InferenceRequest request = request("many");
            answers.add(clients.submit(() -> test.server().infer(request, (response, last) -> {
                // Waiting for a lock uses up signals that were meant for the end of the run.
                turn.lock();
                try (response) {
                    Thread.onSpinWait();
                    responses.incrementAndGet();
                } finally {
                    turn.unlock();
                }
            })));
        }
        for (Future<?> answer : answers) {
            answer.get(30, TimeUnit.SECONDS);
        }
        assertThat(responses).hasValue(600);
    }

    @Test
    void shouldEndARunWhoseRequestIsGivenUp() throws Exception {
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        test.open(execution -> {
            try {
                while (true) {
                    make(execution, 0, 0);
                    execution.send();
                    sent.incrementAndGet();
                }
            } finally {
                ended.incrementAndGet();
            }
        });
        InferenceRequest request = request("many");
        Future<?> answer = clients.submit(() -> test.server().infer(request, this::receive));
        awaitAtLeast(sent, 20);
        request.cancellation().cancel();
        assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(ended).hasValue(1);
        assertThat(statistics("many").totals().failures().canceled()).isEqualTo(1);
    }

    @Test
    void shouldEndARunWhoseReceiverFails() {
        AtomicInteger responses = new AtomicInteger();
        test.open(execution -> {
            while (true) {
                make(execution, 0, 0);
                execution.send();
            }
        });
        // Often, since the instance's thread and the request's meet at any instant.
        int runs = 200;
        for (int i = 0; i < runs; i++) {
            assertThatThrownBy(() -> test.server().infer(request("many"), (response, last) -> {
                        response.close();
                        responses.incrementAndGet();
                        throw new IllegalStateException("the connection broke");
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the connection broke");
        }
        assertThat(responses).hasValue(runs);
        assertThat(statistics("many").totals().failures().canceled()).isEqualTo(runs);
    }

    @Test
    void shouldCopyAnInputThatSeveralResponsesShow() {
        test.open(execution -> {
            for (int i = 0; i < 2; i++) {
                execution.outputFromInput(0, 0, Shape.of(2));
                execution.send();
                MemorySegment bytes = execution.input(0).bytes();
                bytes.set(ValueLayout.JAVA_FLOAT, 0, 5);
            }
        });
        test.server().infer(request("many"), this::receive);
        assertThat(got).extracting(Got::value).containsExactly(0f, 5f);
    }

    @Test
    void shouldAnswerAOneResponseModelThroughTheReceiverToo() {
        test.open(execution -> {
            make(execution, 0, 4);
            make(execution, 1, 5);
        });
        test.server().infer(request("one"), this::receive);
        assertThat(got).containsExactly(new Got(List.of("OUT", "MORE"), 4, true, "null"));
    }

    @Test
    void shouldRefuseADecoupledModelWhereOneResponseIsAskedFor() {
        test.open(DecoupledTest::sendThree);
        assertThatThrownBy(() -> test.server().infer(request("many")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
                .hasMessageContaining("model 'many' is decoupled");
    }

    @Test
    void shouldFailAOneResponseModelThatSendsSeveral() {
        test.open(DecoupledTest::sendThree);
        assertThatThrownBy(() -> test.server().infer(request("one")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessage("expected a single response, got 3");
    }

    @Test
    void shouldTellTheBackendOfItsRequest() {
        test.open(execution -> {
            var request = execution.requests().getFirst();
            assertThat(request.id()).isEqualTo("r7");
            assertThat(request.parameters()).containsEntry("mode", new ParameterValue.Int64(3));
            assertThat(request.cancelled()).isFalse();
            request.responseParameter(
                    "note", Objects.requireNonNull(request.parameters().get("mode")));
            make(execution, 0, 1);
            make(execution, 1, 1);
        });
        InferenceRequest request = request("one");
        request.id("r7");
        request.parameter("mode", new ParameterValue.Int64(3));
        test.server().infer(request, this::receive);
        assertThat(got.getFirst().parameter()).isEqualTo("Int64[value=3]");
    }
}
