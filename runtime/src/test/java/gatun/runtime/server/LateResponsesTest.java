// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelCall;
import gatun.spi.ModelServer;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a backend that asks another model gets of it after it has given the call up, and failures among responses. */
@Timeout(60)
class LateResponsesTest {
    private static final String MODEL = """
            backend: "scripted"
            model_transaction_policy { decoupled: true }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final Arena arena = Arena.ofShared();
    private final Asking asking = new Asking();
    private final List<Object> got = new ArrayList<>();
    private TestServer test;

    /** A backend whose model does nothing, to get at the server as backends do. */
    private static final class Asking implements Backend {
        @SuppressWarnings("NullAway.Init") // set before a model is loaded
        volatile ModelServer server;

        @Override
        public String name() {
            return "asking";
        }

        @Override
        public void connect(ModelServer models) {
            server = models;
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            return (InstanceSpec spec) -> execution -> {};
        }
    }

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder).model("m", MODEL).model("asks", MODEL.replace("scripted", "asking"));
    }

    @AfterEach
    void close() {
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        arena.close();
    }

    private void open(Consumer<Execution> script) {
        test.open(script, options -> options.backend(asking));
    }

    private ModelCall call() {
        ModelCall call = new ModelCall("m", "");
        call.input(new Tensor(
                new TensorSpec("IN", Datatype.FP32, Shape.of(1)), arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1f)));
        call.takeSeveral();
        return call;
    }

    /** Keeps what comes, and gives the call up by the first response. */
    private ModelCall.Responses givingUp(ModelCall call) {
        return new ModelCall.Responses() {
            @Override
            public void accept(List<Tensor> outputs, Map<String, ParameterValue> parameters, boolean last) {
                got.add(outputs.getFirst().bytes().get(ValueLayout.JAVA_FLOAT, 0));
                call.cancel();
            }

            @Override
            public void acceptFailure(GatunException reason) {
                got.add(reason.getMessage());
            }
        };
    }

    private static void send(Execution execution, float value) {
        execution.output(0, Datatype.FP32, Shape.of(1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, value);
        execution.send();
    }

    @Test
    void shouldPassOnWhatAModelSendsThatIgnoresTheCancellation() {
        open(execution -> {
            send(execution, 1);
            Await.until(
                    "the call to be given up",
                    () -> execution.requests().getFirst().cancelled());
            send(execution, 2);
            execution.sendFailure(new GatunException(ErrorCode.INTERNAL, "not the third"));
            send(execution, 4);
        });
        ModelCall call = call();
        asking.server.infer(call, givingUp(call));
        assertThat(got).containsExactly(1f, 2f, "not the third", 4f);
    }

    @Test
    void shouldEndACallThatWaitsWhenItIsGivenUp() {
        open(execution -> {});
        ModelCall call = call();
        call.cancel();
        assertThatThrownBy(() -> asking.server.infer(call, givingUp(call)))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(got).isEmpty();
    }

    /** A caller that is gone must not hold up the instance of the model that it asked. */
    @Test
    void shouldRefuseResponsesWhenTheCallerFailsAfterItHasGivenTheCallUp() {
        int[] sent = {0};
        open(execution -> {
            for (int i = 0; i < 1000; i++) {
                send(execution, i);
                sent[0]++;
            }
        });
        ModelCall call = call();
        assertThatThrownBy(() -> asking.server.infer(call, (outputs, parameters, last) -> {
                    call.cancel();
                    throw new GatunException(ErrorCode.UNAVAILABLE, "the caller is gone");
                }))
                .hasMessage("the caller is gone");
        assertThat(sent[0]).isLessThan(1000);
    }
}
