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
import gatun.spi.Execution;
import gatun.spi.ParameterValue;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Backends that do what they must not: the request gets a clear error, alone or as one of a batch, and the next one its
 * response.
 */
@Timeout(60)
class MisbehavingBackendTest {
    private static final String TENSORS = """
            backend: "scripted"
            max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String UNEXPECTED = "model 'one' failed unexpectedly; the server's log says more";

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicReference<Consumer<Execution>> script = new AtomicReference<>(ScriptedBackend::copy);
    private TestServer test;

    @BeforeEach
    void open(@TempDir Path folder) {
        test = new TestServer(folder)
                .model("one", TENSORS)
                .model("batch", TENSORS + "dynamic_batching { max_queue_delay_microseconds: 60000000 }");
        test.open(execution -> Objects.requireNonNull(script.get()).accept(execution));
    }

    @AfterEach
    void close() {
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private static Arguments fault(String expected, Consumer<Execution> script) {
        return Arguments.of(expected, script);
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // the point of it
    private static <T extends Throwable> RuntimeException undeclared(Throwable checked) throws T {
        @SuppressWarnings("unchecked")
        T any = (T) checked;
        throw any;
    }

    /** A failure whose text is a fault too: logging it fails. */
    private static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no text");
        }
    }

    private static int overflow(int depth) {
        return depth < 0 ? 0 : overflow(depth + 1) + 1;
    }

    private static Shape shape(Execution execution) {
        return execution.input(0).spec().shape();
    }

    static List<Arguments> faults() {
        return List.of(
                fault(UNEXPECTED, execution -> {
                    throw new IllegalStateException("a bug");
                }),
                fault(UNEXPECTED, execution -> {
                    throw new NoClassDefFoundError("com/example/Missing");
                }),
                fault(UNEXPECTED, execution -> {
                    throw new OutOfMemoryError("as a backend says it");
                }),
                fault(UNEXPECTED, execution -> {
                    throw MisbehavingBackendTest.<RuntimeException>undeclared(new IOException("never declared"));
                }),
                fault(UNEXPECTED, execution -> assertThat(overflow(0)).isZero()),
                fault(UNEXPECTED, execution -> {
                    throw new Unprintable();
                }),
                fault(UNEXPECTED, execution -> execution.output(7, Datatype.FP32, shape(execution), 8)),
                fault(UNEXPECTED, execution -> execution.input(-1)),
                fault(UNEXPECTED, execution -> execution
                        .requests()
                        .getFirst()
                        .responseParameter("triton_final_response", new ParameterValue.Bool(false))),
                fault("engine says no", execution -> {
                    throw new GatunException(ErrorCode.INTERNAL, "engine says no");
                }),
                fault("the backend gave no output 'OUT' of model 'one'", execution -> {}),
                fault(
                        "unexpected datatype FP64 for inference output 'OUT', expecting FP32 for one",
                        execution -> execution.output(0, Datatype.FP64, shape(execution), 16)),
                fault(
                        "for inference output 'OUT' of model 'one': expected ",
                        execution -> execution.output(0, Datatype.FP32, Shape.of(1, 3), 12)),
                fault(
                        "unexpected shape [9,2] for inference output 'OUT' of model 'one': expected ",
                        execution -> execution.output(0, Datatype.FP32, Shape.of(9, 2), 72)),
                fault(
                        "for inference output 'OUT' of model 'one': expected ",
                        execution -> execution.output(0, Datatype.FP32, Shape.of(-1, 2), 8)),
                fault(
                        "for inference output 'OUT' of model 'one': expected ",
                        execution -> execution.outputFromInput(0, 0, Shape.of(2))),
                fault(
                        "the backend gives 3 bytes for output 'OUT' of model 'one', which are not those of FP32 [",
                        execution -> execution.output(0, Datatype.FP32, shape(execution), 3)),
                fault(
                        "the backend gives -8 bytes for output 'OUT' of model 'one', which are not those of FP32 [",
                        execution -> execution.output(0, Datatype.FP32, shape(execution), -8)),
                fault("expected a single response, got 2", execution -> {
                    ScriptedBackend.copy(execution);
                    execution.send();
                    execution.send();
                }));
    }

    private InferenceRequest request(String model) {
        return test.input(test.request(model), "IN", 1, 2);
    }

    private void shouldServe(String model) {
        script.set(ScriptedBackend::copy);
        try (InferenceResponse response = test.server().infer(request(model))) {
            assertThat(response.outputs()).hasSize(1);
        }
    }

    @ParameterizedTest
    @MethodSource("faults")
    void shouldFailTheRequestAndServeTheNext(String expected, Consumer<Execution> fault) {
        script.set(fault);
        assertThatThrownBy(() -> test.server().infer(request("one")).close())
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessageContaining(expected);
        assertThat(test.server().statistics("one", "").getFirst().failureCount())
                .isEqualTo(1);
        shouldServe("one");
    }

    @ParameterizedTest
    @MethodSource("faults")
    void shouldFailEachRequestOfABatchAndServeTheNext(String expected, Consumer<Execution> fault) throws Exception {
        script.set(fault);
        List<Future<?>> responses = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            InferenceRequest request = request("batch");
            responses.add(clients.submit(() -> test.server().infer(request).close()));
        }
        for (Future<?> answer : responses) {
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(GatunException.class)
                    .hasMessageContaining(expected.replace("'one'", "'batch'").replace("for one", "for batch"));
        }
        assertThat(test.server().statistics("batch", "").getFirst().failureCount())
                .isEqualTo(4);
        script.set(ScriptedBackend::copy);
        InferenceRequest whole = test.input(test.request("batch"), "IN", 4, 2);
        try (InferenceResponse response = test.server().infer(whole)) {
            assertThat(response.outputs()).hasSize(1);
        }
    }

    @Test
    void shouldTakeTheLastMemoryOfAnOutputThatIsAskedForTwice() {
        script.set(execution -> {
            execution.output(0, Datatype.FP32, shape(execution), 8).fill((byte) 1);
            ScriptedBackend.copy(execution);
        });
        try (InferenceResponse response = test.server().infer(request("one"))) {
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT))
                    .containsExactly(0, 1);
        }
    }

    @Test
    void shouldRefuseAnExecutionThatIsUsedAfterItsRunOrElsewhere() throws Exception {
        AtomicReference<Execution> kept = new AtomicReference<>();
        script.set(execution -> {
            kept.set(execution);
            ScriptedBackend.copy(execution);
        });
        test.server().infer(request("one")).close();
        assertThatThrownBy(() -> Objects.requireNonNull(kept.get()).output(0, Datatype.FP32, Shape.of(1, 2), 8))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after its run");
        script.set(execution -> {
            Future<?> elsewhere = clients.submit(() -> execution.output(0, Datatype.FP32, Shape.of(1, 2), 8));
            assertThatThrownBy(() -> elsewhere.get(30, TimeUnit.SECONDS))
                    .hasMessageContaining("by another thread than the run's");
            ScriptedBackend.copy(execution);
        });
        test.server().infer(request("one")).close();
        shouldServe("one");
    }

    @Test
    void shouldNotStayAwakeWhenABackendInterruptsItsThread() {
        script.set(execution -> {
            Thread.currentThread().interrupt();
            ScriptedBackend.copy(execution);
        });
        test.server().infer(request("one")).close();
        AtomicReference<Boolean> marked = new AtomicReference<>();
        script.set(execution -> {
            marked.set(Thread.currentThread().isInterrupted());
            ScriptedBackend.copy(execution);
        });
        test.server().infer(request("one")).close();
        assertThat(marked).hasValue(false);
    }
}
