// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.server.ScriptedBackend;
import gatun.runtime.server.TestServer;
import gatun.testing.Await;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CancellationTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 8
            dynamic_batching { }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final CountDownLatch busy = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private TestServer test;
    /**
     * Whether the engine forgets a stop at the beginning of a run, as engines do in which it would outlast the run that
     * it was for.
     */
    private volatile boolean forgets;

    @BeforeEach
    void open(@TempDir Path folder) {
        test = new TestServer(folder).model("m", MODEL);
        // The first run ends when it is told to stop, or at the gate.
        test.open(execution -> {
            if (busy.getCount() > 0) {
                busy.countDown();
                Await.until("the condition", () -> gate.getCount() == 0 || test.backend.stopped.get() > 0);
                if (forgets) {
                    test.backend.stopped.set(0);
                    execution.inferStarted();
                }
                if (test.backend.stopped.get() > 0) {
                    throw new GatunException(ErrorCode.INTERNAL, "stopped half way");
                }
            }
            ScriptedBackend.copy(execution);
        });
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private InferenceRequest request() {
        return test.input(test.request("m"), "IN", 1, 2);
    }

    private Future<Integer> infer(InferenceRequest request) {
        return clients.submit(() -> {
            try (request;
                    InferenceResponse response = test.server().infer(request)) {
                return response.outputs().size();
            }
        });
    }

    private static void assertCancelled(ThrowingCallable answer) {
        assertThatThrownBy(answer)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
    }

    private ModelStatistics statistics() {
        return test.server().statistics().getFirst();
    }

    @Test
    void shouldTakeAWaitingRequestOutOfTheQueue() throws Exception {
        Future<Integer> running = infer(request());
        assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
        InferenceRequest waiting = request();
        Future<Integer> answer = infer(waiting);
        Await.until("the condition", () -> statistics().totals().pendingRequestCount() == 1);
        waiting.cancellation().cancel();
        assertCancelled(() -> answer.get(30, TimeUnit.SECONDS));
        assertThat(statistics().totals().pendingRequestCount()).isZero();
        assertThat(statistics().totals().failures().canceled()).isEqualTo(1);
        assertThat(test.backend.stopped).hasValue(0);
        gate.countDown();
        assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void shouldTellTheEngineToStopARunThatNobodyWants() throws Exception {
        InferenceRequest request = request();
        Future<Integer> running = infer(request);
        assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
        request.cancellation().cancel();
        request.cancellation().cancel();
        assertCancelled(() -> running.get(30, TimeUnit.SECONDS));
        assertThat(test.backend.stopped).hasValue(1);
        assertThat(statistics().totals().failures().canceled()).isEqualTo(1);
        assertThat(statistics().totals().failures().backend()).isZero();
        assertThat(infer(request()).get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void shouldStopARunThatIsGivenUpWhenItsEngineDoesNotListenYet() throws Exception {
        forgets = true;
        InferenceRequest request = request();
        Future<Integer> running = infer(request);
        assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
        request.cancellation().cancel();
        assertCancelled(() -> running.get(30, TimeUnit.SECONDS));
        assertThat(test.backend.stopped).hasValue(1);
        assertThat(infer(request()).get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void shouldRefuseARequestThatWasGivenUpBeforeItCame() {
        InferenceRequest request = request();
        request.cancellation().cancel();
        assertCancelled(() -> infer(request).get(30, TimeUnit.SECONDS));
        assertThat(busy.getCount()).as("runs").isEqualTo(1);
    }

    @Test
    void shouldNotMindARequestThatIsGivenUpAfterItsAnswer() throws Exception {
        gate.countDown();
        InferenceRequest request = request();
        assertThat(infer(request).get(30, TimeUnit.SECONDS)).isEqualTo(1);
        request.cancellation().cancel();
        assertThat(test.backend.stopped).hasValue(0);
        assertThat(statistics().failureCount()).isZero();
    }
}
