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
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
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
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Batches of a decoupled model that takes its requests apart, and failures among its responses. */
@Timeout(60)
class DecoupledBatchTest {
    /** Two requests run together; one alone would wait for half a minute. */
    private static final String MODEL = """
            backend: "apart"
            max_batch_size: 8
            model_transaction_policy { decoupled: true }
            dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 30000000 }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String ALONE = """
            backend: "scripted"
            model_transaction_policy { decoupled: true }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Integer> calls = new CopyOnWriteArrayList<>();
    private TestServer test;

    /** What a client has got: the values of responses, and the texts of failures among them. */
    private static final class Client implements ResponseReceiver {
        final List<Object> got = new CopyOnWriteArrayList<>();

        @Override
        public void accept(InferenceResponse response, boolean last) {
            try (response) {
                got.add(response.outputs().getFirst().tensor().bytes().get(ValueLayout.JAVA_FLOAT, 0));
            }
        }

        @Override
        public void acceptFailure(GatunException reason) {
            got.add(reason.getMessage());
        }
    }

    /** Does what the test says with the requests of each call. */
    private record Apart(Consumer<List<? extends Execution>> script) implements Backend {
        @Override
        public String name() {
            return "apart";
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            return new BackendModel() {
                @Override
                public BackendInstance newInstance(InstanceSpec spec) {
                    return new BackendInstance() {
                        @Override
                        public void execute(Execution execution) {
                            script.accept(List.of(execution));
                        }

                        @Override
                        public void executeApart(List<? extends Execution> executions) {
                            script.accept(executions);
                        }
                    };
                }

                @Override
                public boolean takesRequestsApart() {
                    return true;
                }
            };
        }
    }

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private void open(Consumer<List<? extends Execution>> script) {
        test.model("m", MODEL)
                .open(
                        ScriptedBackend::copy,
                        options -> options.backend(new Apart(executions -> {
                            calls.add(executions.size());
                            script.accept(executions);
                        })));
    }

    private Future<?> ask(ResponseReceiver client) {
        return clients.submit(() -> test.server().infer(test.input(test.request("m"), "IN", 1, 1), client));
    }

    /** Two clients whose requests run together, and how each of them ended. */
    private List<Future<?>> ask(Client first, Client second) {
        List<Future<?>> ends = new ArrayList<>();
        ends.add(ask(first));
        Await.until("the first to wait", () -> statistics().totals().pendingRequestCount() == 1);
        ends.add(ask(second));
        return ends;
    }

    private static void await(List<Future<?>> ends) throws Exception {
        for (Future<?> end : ends) {
            end.get(30, TimeUnit.SECONDS);
        }
    }

    private static void send(Execution execution, float value) {
        execution.output(0, Datatype.FP32, Shape.of(1, 1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, value);
        execution.send();
    }

    private ModelStatistics statistics() {
        return test.server().statistics("m", "").getFirst();
    }

    private static GatunException error(String text) {
        return new GatunException(ErrorCode.INTERNAL, text);
    }

    @Test
    void shouldRunRequestsInOneCallAndCountIt() throws Exception {
        open(executions -> {
            for (int i = 0; i < executions.size(); i++) {
                send(executions.get(i), 10 * i);
                send(executions.get(i), 10 * i + 1);
            }
        });
        Client first = new Client();
        Client second = new Client();
        await(ask(first, second));

        assertThat(first.got).containsExactly(0f, 1f);
        assertThat(second.got).containsExactly(10f, 11f);
        assertThat(calls).containsExactly(2);
        assertThat(statistics().executionCount()).isEqualTo(1);
        assertThat(statistics().successCount()).isEqualTo(2);
        assertThat(statistics().batches())
                .extracting(BatchStatistics::batchSize)
                .containsExactly(2);
        assertThat(statistics().responses())
                .extracting(responses -> responses.success().count())
                .containsExactly(2L, 2L, 0L);
    }

    @Test
    void shouldLetEachRequestOfACallEndByItself() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        open(executions -> {
            assertThat(executions.get(0).detach(rest(execution -> {
                        Await.opened(gate);
                        send(execution, 1);
                    })))
                    .isTrue();
            assertThat(executions.get(1).detach(rest(execution -> send(execution, 2))))
                    .isTrue();
        });
        Client first = new Client();
        Client second = new Client();
        List<Future<?>> ends = ask(first, second);
        ends.get(1).get(30, TimeUnit.SECONDS);
        assertThat(second.got).containsExactly(2f);
        assertThat(ends.get(0).isDone()).isFalse();

        Client third = new Client();
        Client fourth = new Client();
        List<Future<?>> later = ask(third, fourth);
        Await.until("the instance to take the next two", () -> calls.size() == 2);
        gate.countDown();
        await(ends);
        await(later);
        assertThat(first.got).containsExactly(1f);
        assertThat(third.got).containsExactly(1f);
        assertThat(statistics().successCount()).isEqualTo(4);
        assertThat(statistics().executionCount()).isEqualTo(2);
    }

    private static DetachedRun rest(Consumer<Execution> action) {
        return new DetachedRun() {
            @Override
            public void run(Execution execution) {
                action.accept(execution);
            }

            @Override
            public void stop() {}
        };
    }

    @Test
    void shouldFailOneRequestOfACallAlone() throws Exception {
        open(executions -> {
            executions.get(0).requests().getFirst().fail(error("not this one"));
            send(executions.get(1), 2);
        });
        Client first = new Client();
        Client second = new Client();
        List<Future<?>> ends = ask(first, second);
        ends.get(1).get(30, TimeUnit.SECONDS);
        assertThat(second.got).containsExactly(2f);
        assertThatThrownBy(() -> ends.get(0).get(30, TimeUnit.SECONDS)).hasMessageContaining("not this one");
        assertThat(statistics().successCount()).isEqualTo(1);
        assertThat(statistics().totals().failures().backend()).isEqualTo(1);
    }

    @Test
    void shouldFailAllRequestsOfACallThatFails() {
        open(executions -> {
            throw error("none of them");
        });
        for (Future<?> end : ask(new Client(), new Client())) {
            assertThatThrownBy(() -> end.get(30, TimeUnit.SECONDS)).hasMessageContaining("none of them");
        }
        assertThat(statistics().executionCount()).isZero();
    }

    @Test
    void shouldGoOnAfterAFailureAmongTheResponses() {
        test.model("m", ALONE).open(execution -> {
            sendAlone(execution, 1);
            execution.sendFailure(error("not this response"));
            sendAlone(execution, 3);
        });
        Client client = new Client();
        test.server().infer(test.input(test.request("m"), "IN", 1), client);
        assertThat(client.got).containsExactly(1f, "not this response", 3f);
        assertThat(statistics().successCount()).isEqualTo(1);
        assertThat(statistics().responses())
                .extracting(responses -> responses.fail().count())
                .containsExactly(0L, 1L, 0L, 0L);
        assertThat(statistics().responses())
                .extracting(responses -> responses.success().count())
                .containsExactly(1L, 0L, 1L, 0L);
        assertThat(statistics().responses())
                .extracting(responses -> responses.empty().count())
                .containsExactly(0L, 0L, 0L, 1L);
        assertThat(statistics().responses())
                .extracting(responses -> responses.computeOutput().count())
                .containsExactly(1L, 1L, 1L, 0L);
    }

    private static void sendAlone(Execution execution, float value) {
        execution.output(0, Datatype.FP32, Shape.of(1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, value);
        execution.send();
    }

    @Test
    void shouldCountARequestThatEndsByAFailureAsFailed() {
        test.model("m", ALONE).open(execution -> execution.sendFailure(error("all that comes")));
        Client client = new Client();
        test.server().infer(test.input(test.request("m"), "IN", 1), client);
        assertThat(client.got).containsExactly("all that comes");
        assertThat(statistics().successCount()).isZero();
        assertThat(statistics().totals().failures().backend()).isEqualTo(1);
    }

    @Test
    void shouldEndARequestByTheFirstFailureWhereItsClientTakesNone() {
        test.model("m", ALONE).open(execution -> {
            execution.sendFailure(error("the first"));
            sendAlone(execution, 1);
        });
        List<Float> got = new ArrayList<>();
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("m"), "IN", 1), (response, last) -> {
                    response.close();
                    got.add(0f);
                }))
                .isInstanceOf(GatunException.class)
                .hasMessage("the first");
        assertThat(got).isEmpty();
    }

    @Test
    void shouldCountTheEndOfARequestThatNobodyWantsAsCancelled() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        test.model("m", ALONE).open(execution -> {
            running.countDown();
            Await.until(
                    "the client to give up",
                    () -> execution.requests().getFirst().cancelled());
        });
        InferenceRequest request = test.input(test.request("m"), "IN", 1);
        Future<?> end = clients.submit(() -> test.server().infer(request, new Client()));
        Await.opened(running);
        request.cancellation().cancel();
        end.get(30, TimeUnit.SECONDS);
        assertThat(statistics().responses())
                .extracting(responses -> responses.cancel().count())
                .containsExactly(1L);
        assertThat(statistics().responses())
                .extracting(responses -> responses.empty().count())
                .containsExactly(0L);
    }
}
