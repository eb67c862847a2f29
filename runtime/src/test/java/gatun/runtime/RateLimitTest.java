package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
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
                        options -> options.rateLimit(amounts));
    }

    @Test
    void shouldRunNoMoreAtATimeThanThereAreResourcesForOverAllModels() throws Exception {
        open(List.of(new ResourceAmount("R", 3, ResourceAmount.EVERY_DEVICE)));
        List<Future<?>> answers = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 200; i++) {
                String model = i % 2 == 0 ? "m" : "n";
                answers.add(clients.submit(() -> test.server()
                        .infer(test.input(test.request(model), "IN", 2))
                        .close()));
            }
            for (Future<?> answer : answers) {
                answer.get(30, TimeUnit.SECONDS);
            }
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
}
