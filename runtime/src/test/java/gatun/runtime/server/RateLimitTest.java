// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ResourceAmount;
import gatun.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models whose instances share a resource. */
@Timeout(60)
class RateLimitTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            instance_group [ { count: 3 rate_limiter { resources [ { name: "R" count: 2 } ] } } ]
            """;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger mostRunning = new AtomicInteger();
    private final CountDownLatch finish = new CountDownLatch(1);
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        finish.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private void open(List<ResourceAmount> amounts) {
        test.model("m", MODEL)
                .model("n", MODEL)
                .open(
                        execution -> {
                            mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
                            ScriptedBackend.copy(execution);
                            running.decrementAndGet();
                        },
                        options -> options.models(ChangedSettings.rateLimit(amounts)));
    }

    @Test
    void shouldRunNoMoreAtATimeThanThereAreResourcesForOverAllModels() throws Exception {
        open(List.of(new ResourceAmount("R", 3, ResourceAmount.EVERY_DEVICE)));
        List<Future<?>> responses = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String model = i % 2 == 0 ? "m" : "n";
            responses.add(clients.submit(() -> infer(test.request(model), "", 2)));
        }
        for (Future<?> response : responses) {
            response.get(30, TimeUnit.SECONDS);
        }
        assertThat(mostRunning).hasValue(1);
        assertThat(test.server().statistics())
                .extracting(ModelStatistics::successCount)
                .containsExactly(100L, 100L);
    }

    @Test
    void shouldNotLoadAModelThatCouldNeverRun() {
        open(List.of(new ResourceAmount("R", 1, 0)));
        assertThat(test.server().index())
                .extracting(ModelStatus::reason)
                .containsOnly(
                        "Resource count for \"R\" is limited to 1 which will prevent scheduling of one or more model"
                                + " instances, the minimum required count is 2");
    }

    /**
     * Loads a model that holds the resource while it runs, and another that is to wait for it; the first runs when this
     * returns.
     */
    private Future<?> hold(String waitingModel) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        test.model("m", MODEL)
                .model("n", waitingModel)
                .open(
                        execution -> {
                            if (execution.requests().getFirst().id().equals("holder")) {
                                begun.countDown();
                                Await.until("the condition", () -> finish.getCount() == 0);
                            }
                            ScriptedBackend.copy(execution);
                        },
                        options -> options.models(ChangedSettings.rateLimit(List.of())));
        Future<?> holder = clients.submit(() -> infer(test.request("m"), "holder", 2));
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        return holder;
    }

    private void infer(InferenceRequest request, String id, long... shape) {
        request.id(id);
        try (request) {
            test.server().infer(test.input(request, "IN", shape)).close();
        }
    }

    private ModelStatistics statisticsOfTheWaiting() {
        return test.server().statistics().get(1);
    }

    @Test
    void shouldEndARequestOnTimeThatWaitsForAResource() throws Exception {
        Future<?> holder = hold(MODEL + """
                max_batch_size: 4
                dynamic_batching {
                  default_queue_policy { timeout_action: REJECT default_timeout_microseconds: 50000 }
                }
                """);
        assertThatThrownBy(() -> infer(test.request("n"), "waiter", 1, 2))
                .hasMessageContaining("Request timeout expired");
        assertThat(holder.isDone()).as("it still holds the resource").isFalse();
        finish.countDown();
        holder.get(20, TimeUnit.SECONDS);
        infer(test.request("n"), "next", 1, 2);
    }

    @Test
    void shouldTakeARequestOutThatIsCancelledWhileItWaitsForAResource() throws Exception {
        Future<?> holder = hold(MODEL);
        InferenceRequest request = test.request("n");
        Future<?> waiter = clients.submit(() -> infer(request, "waiter", 2));
        Await.until("the condition", () -> statisticsOfTheWaiting().totals().pendingRequestCount() == 1);
        request.cancellation().cancel();
        assertThatThrownBy(() -> waiter.get(20, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(statisticsOfTheWaiting().totals().pendingRequestCount()).isZero();
        assertThat(holder.isDone()).as("it still holds the resource").isFalse();
        finish.countDown();
        holder.get(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldBatchWhatComesWhileTheFirstWaitsForAResource() throws Exception {
        Future<?> holder = hold(MODEL + """
                max_batch_size: 4
                dynamic_batching { }
                """);
        List<Future<?>> waiters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waiters.add(clients.submit(() -> infer(test.request("n"), "waiter", 1, 2)));
        }
        Await.until("the condition", () -> statisticsOfTheWaiting().totals().pendingRequestCount() == 4);
        finish.countDown();
        holder.get(20, TimeUnit.SECONDS);
        for (Future<?> waiter : waiters) {
            waiter.get(20, TimeUnit.SECONDS);
        }
        assertThat(statisticsOfTheWaiting().executionCount())
                .as("runs for four requests")
                .isEqualTo(1);
    }
}
