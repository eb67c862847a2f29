// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceResponse;
import gatun.testing.Await;
import java.nio.file.Path;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads of models whose warm-up, which nobody has asked for, takes long. */
@Timeout(60)
class PreparationTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final CountDownLatch gate = new CountDownLatch(1);
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder).model("m", MODEL);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
    }

    private void open(boolean boundToThread, Runnable warmUp) {
        test.open(
                execution -> {
                    assertThat(gate.getCount()).as("a run beside the warm-up").isZero();
                    ScriptedBackend.copy(execution);
                },
                options -> {
                    test.backend.boundToThread = boundToThread;
                    test.backend.warmUp = warmUp;
                    return options;
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotWaitForAWarmUpThatDoesNotStop(boolean boundToThread) throws Exception {
        open(boundToThread, () -> Await.opened(gate));

        assertThat(test.server().model("m", "").ready()).isTrue();
        assertThat(test.backend.stopped).as("told to stop").hasValueGreaterThan(0);
        Future<Integer> outputs = clients.submit(() -> {
            try (InferenceResponse response = test.server().infer(test.input(test.request("m"), "IN", 1, 1))) {
                return response.outputs().size();
            }
        });
        Await.until(
                "the request to be taken",
                () -> test.server().statistics().getFirst().totals().occupancy().busyInstanceCount() > 0
                        || test.server().statistics().getFirst().totals().pendingRequestCount() > 0);
        gate.countDown();
        assertThat(outputs.get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void shouldEndAWarmUpThatStops() {
        open(true, () -> Await.until("the end of a second", () -> test.backend.stopped.get() > 0));

        assertThat(test.server().model("m", "").ready()).isTrue();
    }

    @Test
    void shouldCloseAModelThatIsStillWarmedUp() {
        open(true, () -> Await.opened(gate));

        clients.execute(gate::countDown);
        test.server().close();
        assertThat(test.backend.open).hasValue(0);
    }

    @Test
    void shouldNotServeAModelWhoseWarmUpFails() {
        open(true, () -> {
            throw new GatunException(ErrorCode.INTERNAL, "the engine's process has ended");
        });

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> test.server().model("m", ""));
        assertThat(test.index()).first().asString().contains("the engine's process has ended");
    }
}
