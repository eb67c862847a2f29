// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelOverride;
import gatun.spi.Execution;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests that are asked again, as lanes do with those of their slots. */
@Timeout(60)
class RepeatedRequestTest {
    private static final String CONFIG = """
            backend: "scripted"
            input { name: "IN" data_type: TYPE_FP32 dims: [1] }
            output { name: "OUT" data_type: TYPE_FP32 dims: [1] }
            """;

    /** After so many runs it is known that they are short, and any may be done by the thread that asks. */
    private static final int MANY = 10_000;

    private TestServer test;
    private Buffer input;
    private volatile boolean fails;
    private volatile boolean showsInput;

    @BeforeEach
    void open(@TempDir Path repository) {
        test = new TestServer(repository).model("m", CONFIG);
        test.open(this::run, options -> {
            test.backend.boundToThread = false;
            return options.controlMode(ControlMode.EXPLICIT).onlyModels(List.of("m"));
        });
        input = test.pool.take(Float.BYTES);
    }

    @AfterEach
    void close() {
        input.close();
        assertThat(test.pool.usedBytes()).isZero();
        test.close();
    }

    private void run(Execution execution) {
        if (fails) {
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, "told to fail");
        }
        if (showsInput) {
            execution.outputFromInput(0, 0, Shape.of(1));
        } else {
            ScriptedBackend.copy(execution);
        }
    }

    /** A request that was answered, and of which its version has kept what it made. */
    private InferenceRequest repeatable() {
        for (int i = 0; i < MANY; i++) {
            InferenceRequest request = test.request("m");
            request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1)), input.segment()));
            request.anyVersion(true);
            request.allowRepeat();
            assertAnswered(request, i);
            if (request.repeat()) {
                return request;
            }
        }
        throw new AssertionError("no request of " + MANY + " was run by the thread that asked");
    }

    private void assertAnswered(InferenceRequest request, float value) {
        input.segment().set(ValueLayout.JAVA_FLOAT, 0, value);
        try (InferenceResponse response = test.server().infer(request)) {
            assertThat(response.outputs()).hasSize(1);
            assertThat(response.outputs().getFirst().tensor().bytes().get(ValueLayout.JAVA_FLOAT, 0))
                    .isEqualTo(value);
        }
    }

    @Test
    void shouldAnswerWhatIsInTheTensorsEachTime() {
        InferenceRequest request = repeatable();
        for (int i = 0; i < 100; i++) {
            assertAnswered(request, 1000 + i);
            if (!request.repeat()) {
                request = repeatable(); // the instance's own thread ran it
            }
        }
        request.close();
    }

    @Test
    void shouldNeedANewRequestWhereNobodySaidThatItIsRepeated() {
        repeatable().close();
        InferenceRequest request = test.request("m");
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1)), input.segment()));
        assertAnswered(request, 1);
        assertThat(request.repeat()).isFalse();
    }

    @Test
    void shouldNeedANewRequestAfterOneThatFailed() {
        InferenceRequest request = repeatable();
        fails = true;
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> test.server().infer(request));
        fails = false;
        assertThat(request.repeat()).isFalse();
    }

    @Test
    void shouldNeedANewRequestAfterOneThatWasGivenUp() {
        InferenceRequest request = repeatable();
        assertAnswered(request, 1);
        request.cancellation().cancel();
        assertThat(request.repeat()).isFalse();
    }

    @Test
    void shouldAskTheVersionThatTookThePlaceOfTheOneBefore() {
        InferenceRequest request = repeatable();
        test.model("m", CONFIG + "parameters { key: \"other\" value { string_value: \"x\" } }");
        test.server().load("m", ModelOverride.NONE);
        assertAnswered(request, 7);
    }

    @Test
    void shouldNotBeRepeatedWithoutTheInputsThatItsResponseTookOver() {
        for (int i = 0; i < MANY; i++) {
            InferenceRequest request = test.request("m");
            test.input(request, "IN", 1);
            request.allowRepeat();
            showsInput = true;
            test.server().infer(request).close();
            assertThat(request.repeat()).isFalse();
        }
    }

    @Test
    void shouldNotBeRepeatedWithMemoryThatIsGone() {
        InferenceRequest request = test.request("m");
        test.input(request, "IN", 1);
        request.allowRepeat();
        test.server().infer(request).close();
        assertThat(request.repeat()).isFalse();
    }
}
