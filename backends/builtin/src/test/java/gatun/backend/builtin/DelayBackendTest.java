// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The backend as the runtime finds and drives it. */
@Timeout(60)
class DelayBackendTest {
    private static final String MODEL = """
            backend: "delay"
            input [ { name: "IN" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            """;

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    @AfterEach
    void endClients() {
        clients.close();
    }

    private void open(String config) throws IOException {
        Files.createDirectories(repository.resolve("m").resolve("1"));
        Files.writeString(repository.resolve("m").resolve("config.pbtxt"), config);
        server = runtime.serve(repository);
    }

    private InferenceRequest request() {
        InferenceRequest request = new InferenceRequest(server.model("m", ""));
        Buffer buffer = pool.take(2);
        request.hold(buffer);
        buffer.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 4);
        buffer.segment().set(ValueLayout.JAVA_BYTE, 1, (byte) 2);
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.UINT8, Shape.of(2)), buffer.segment()));
        return request;
    }

    /** Answers the request; the time that it took. */
    private Duration infer(InferenceRequest request) {
        long started = System.nanoTime();
        try (InferenceResponse response = server.infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_BYTE))
                    .containsExactly(4, 2);
        }
        return Duration.ofNanos(System.nanoTime() - started);
    }

    private String reason() {
        return server.index().stream().map(ModelStatus::reason).findFirst().orElseThrow();
    }

    @Test
    void shouldAnswerWithTheInputAfterTheTimeOfTheConfiguration() throws IOException {
        open(MODEL + "parameters { key: \"execute_delay_ms\" value { string_value: \"120\" } }");
        assertThat(infer(request())).isBetween(Duration.ofMillis(120), Duration.ofSeconds(30));
    }

    @Test
    void shouldLetTheRequestSayHowLong() throws IOException {
        open(MODEL + "parameters { key: \"execute_delay_ms\" value { string_value: \"3000000\" } }");
        InferenceRequest request = request();
        request.parameter("execute_delay_ms", new ParameterValue.Int64(80));
        assertThat(infer(request)).isBetween(Duration.ofMillis(80), Duration.ofSeconds(30));
    }

    @Test
    void shouldEndARunThatNobodyWants() throws Exception {
        open(MODEL + "instance_group [ { count: 1 } ]");
        InferenceRequest slow = request();
        slow.parameter("execute_delay_ms", new ParameterValue.Int64(3_000_000));
        CountDownLatch taken = new CountDownLatch(1);
        slow.onSubmitted(taken::countDown);
        Future<Duration> running = clients.submit(() -> infer(slow));
        Future<Duration> waiting;
        try {
            assertThat(taken.await(30, TimeUnit.SECONDS)).isTrue();
            InferenceRequest behind = request();
            waiting = clients.submit(() -> infer(behind));
            awaitPending();
        } finally {
            // Otherwise nobody would end it when something above goes wrong.
            slow.cancellation().cancel();
        }
        assertThatThrownBy(() -> running.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(waiting.get(30, TimeUnit.SECONDS)).isLessThan(Duration.ofSeconds(30));
    }

    private void awaitPending() {
        Await.until(
                "a request in the queue",
                () -> server.statistics().getFirst().totals().pendingRequestCount() != 0);
    }

    @Test
    void shouldRefuseATimeThatMeansNothing() throws IOException {
        open(MODEL);
        InferenceRequest negative = request();
        negative.parameter("execute_delay_ms", new ParameterValue.Int64(-1));
        assertThatThrownBy(() -> infer(negative))
                .hasMessage("parameter 'execute_delay_ms' is -1, expected milliseconds from 0 to 3600000");
        InferenceRequest text = request();
        text.parameter("execute_delay_ms", new ParameterValue.Text("soon"));
        assertThatThrownBy(() -> infer(text)).hasMessageContaining("expected an integer");
    }

    @Test
    void shouldNotLoadAModelWhoseTimeIsNoNumber() throws IOException {
        open(MODEL + "parameters { key: \"execute_delay_ms\" value { string_value: \"soon\" } }");
        assertThat(reason()).isEqualTo("parameter 'execute_delay_ms' is 'soon', expected milliseconds as a number");
    }

    @Test
    void shouldNotLoadAModelWhoseOutputsAreNotItsInputs() throws IOException {
        open(MODEL + "input [ { name: \"MORE\" data_type: TYPE_UINT8 dims: [ 1 ] } ]");
        assertThat(reason())
                .isEqualTo("model 'm' has 2 inputs and 1 outputs; the delay backend needs as many outputs as inputs,"
                        + " and at least one");
    }
}
