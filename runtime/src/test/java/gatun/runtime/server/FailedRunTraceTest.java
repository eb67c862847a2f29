// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.Execution;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the traces of requests tell whose run failed, or whose client had gone. */
@Timeout(60)
class FailedRunTraceTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            """;

    private final List<RequestTrace> traces = new CopyOnWriteArrayList<>();
    private final AtomicReference<Consumer<Execution>> script = new AtomicReference<>(ScriptedBackend::copy);
    private TestServer test;

    @BeforeEach
    void open(@TempDir Path folder) {
        test = new TestServer(folder).model("m", MODEL);
        test.open(execution -> Objects.requireNonNull(script.get()).accept(execution));
        assertThat(test.server().tracing().observe(traces::add)).isTrue();
    }

    @AfterEach
    void close() {
        test.close();
    }

    private InferenceRequest traced(long... dims) {
        InferenceRequest request = test.input(test.request("m"), "IN", dims);
        request.trace(test.server()
                .tracing()
                .begin("m", 1, "", header -> Optional.empty())
                .orElseThrow());
        return request;
    }

    private List<TraceStage> stagesOfFailed(InferenceRequest request) {
        RequestTrace trace = request.trace().orElseThrow();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> test.server().infer(request));
        trace.end();
        assertThat(traces).containsExactly(trace);
        return trace.timestamps().stream().map(TraceEvent.Timestamp::stage).toList();
    }

    static Stream<Consumer<Execution>> failures() {
        return Stream.of(
                execution -> {
                    throw GatunException.invalidArgument("no");
                },
                execution -> {
                    throw new IllegalStateException("a bug");
                },
                execution -> execution.requests().getFirst().fail(GatunException.invalidArgument("no")),
                execution -> execution.inferStarted());
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldTellTheRunThatFailed(Consumer<Execution> failing) {
        script.set(failing);
        assertThat(stagesOfFailed(traced(1, 2)))
                .containsSubsequence(
                        TraceStage.COMPUTE_START,
                        TraceStage.COMPUTE_INPUT_END,
                        TraceStage.COMPUTE_OUTPUT_START,
                        TraceStage.COMPUTE_END);
    }

    @Test
    void shouldTellTheRunOfARequestThatWasGivenUpMeanwhile() {
        InferenceRequest request = traced(1, 2);
        script.set(execution -> {
            request.cancellation().cancel();
            throw GatunException.invalidArgument("stopped");
        });
        assertThat(stagesOfFailed(request)).contains(TraceStage.COMPUTE_START, TraceStage.COMPUTE_END);
    }

    @Test
    void shouldTellNoRunOfARequestThatHadNone() {
        assertThat(stagesOfFailed(traced(1, 3))).doesNotContain(TraceStage.COMPUTE_START, TraceStage.COMPUTE_END);
    }
}
