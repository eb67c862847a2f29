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
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceResponse;
import gatun.runtime.metrics.MetricLines;
import gatun.runtime.metrics.MetricRegistry;
import gatun.runtime.repository.TemporaryFolder;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.CorrelationId;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.InstanceSpec;
import gatun.spi.ModelCall;
import gatun.spi.ModelMetrics;
import gatun.spi.ModelServer;
import gatun.spi.ParameterValue;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A backend that asks its server for other models, as models do that are made of code. */
@Timeout(60)
class BackendCallsTest {
    private static final String TENSORS = """
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String MODEL = "backend: \"scripted\" " + TENSORS;
    private static final String DECOUPLED = MODEL + "model_transaction_policy { decoupled: true }";
    private static final String CALLER = "backend: \"caller\" " + TENSORS;

    private final Arena arena = Arena.ofShared();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final Caller caller = new Caller();
    private final List<Got> got = new CopyOnWriteArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private TestServer test;

    /** A response as a call got it. */
    private record Got(
            List<String> outputs, List<Float> values, Map<String, ParameterValue> parameters, boolean last) {}

    /** Answers its requests by asking model "m". */
    private static final class Caller implements Backend {
        @SuppressWarnings("NullAway.Init") // set before a model is loaded
        volatile ModelServer server;

        volatile boolean connectedBeforeStart;

        @Override
        public String name() {
            return "caller";
        }

        @Override
        public void connect(ModelServer models) {
            server = models;
        }

        @Override
        public void start(Map<String, String> options) {
            connectedBeforeStart = server != null;
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            return (InstanceSpec spec) -> (BackendInstance) this::ask;
        }

        private void ask(Execution execution) {
            ModelCall call = new ModelCall("m", "");
            call.input(execution.input(0));
            server.infer(call, (outputs, parameters, last) -> {
                Tensor answer = outputs.getFirst();
                execution
                        .output(0, Datatype.FP32, answer.spec().shape(), answer.byteSize())
                        .copyFrom(answer.bytes());
            });
        }
    }

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder).model("caller", CALLER);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        arena.close();
    }

    private void open(Consumer<Execution> script) {
        open(script, options -> options);
    }

    private void open(Consumer<Execution> script, UnaryOperator<ServerOptions> settings) {
        test.open(script, options -> settings.apply(options.backend(caller)));
    }

    private ModelCall call(String model, String version, float... values) {
        ModelCall call = new ModelCall(model, version);
        call.input(new Tensor(
                new TensorSpec("IN", Datatype.FP32, Shape.of(values.length)),
                arena.allocateFrom(ValueLayout.JAVA_FLOAT, values)));
        return call;
    }

    private void receive(List<Tensor> outputs, Map<String, ParameterValue> parameters, boolean last) {
        List<Float> values = new ArrayList<>();
        for (Tensor output : outputs) {
            for (float value : output.bytes().toArray(ValueLayout.JAVA_FLOAT)) {
                values.add(value);
            }
        }
        got.add(new Got(
                outputs.stream().map(output -> output.spec().name()).toList(), values, Map.copyOf(parameters), last));
    }

    private void assertFails(ErrorCode code, String message, ModelCall call) {
        assertThatThrownBy(() -> caller.server.infer(call, this::receive))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessage(message);
    }

    private static void sendThree(Execution execution) {
        for (int i = 0; i < 3; i++) {
            execution.output(0, Datatype.FP32, Shape.of(1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, i);
            execution.send();
        }
    }

    @Test
    void shouldAskAnotherModelDuringARun() {
        test.model("m", MODEL);
        open(ScriptedBackend::copy);
        assertThat(caller.connectedBeforeStart).isTrue();
        try (InferenceResponse response = test.server().infer(test.input(test.request("caller"), "IN", 3))) {
            assertThat(response.modelName()).isEqualTo("caller");
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT))
                    .containsExactly(0, 1, 2);
        }
        assertThat(test.server().statistics("m", "").getFirst().successCount()).isEqualTo(1);
    }

    @Test
    void shouldFailARunByTheFailureOfTheModelThatItAsks() {
        test.model("m", MODEL);
        open(execution -> {
            throw new GatunException(ErrorCode.ALREADY_EXISTS, "not twice");
        });
        assertThatThrownBy(() -> test.server().infer(test.input(test.request("caller"), "IN", 3)))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ALREADY_EXISTS))
                .hasMessage("not twice");
    }

    @Test
    void shouldGetTheResponseWithItsParameters() {
        test.model("m", MODEL);
        open(execution -> {
            execution.requests().getFirst().responseParameter("p", new ParameterValue.Int64(3));
            ScriptedBackend.copy(execution);
        });
        caller.server.infer(call("m", "1", 1, 2), this::receive);
        assertThat(got)
                .containsExactly(
                        new Got(List.of("OUT"), List.of(1f, 2f), Map.of("p", new ParameterValue.Int64(3)), true));
    }

    @Test
    void shouldGetOnlyTheOutputsThatAreWanted() {
        test.model("m", MODEL.replace("output [", "output [ { name: \"MORE\" data_type: TYPE_FP32 dims: [ 1 ] },"));
        open(execution -> {
            for (int i = 0; i < execution.outputCount(); i++) {
                execution.output(i, Datatype.FP32, Shape.of(1), Float.BYTES).fill((byte) 0);
            }
        });
        ModelCall call = call("m", "", 1);
        call.output("OUT");
        caller.server.infer(call, this::receive);
        caller.server.infer(call("m", "", 1), this::receive);
        assertThat(got).extracting(Got::outputs).containsExactly(List.of("OUT"), List.of("MORE", "OUT"));
    }

    @Test
    void shouldPassOnAllThatACallSays() {
        List<String> seen = new CopyOnWriteArrayList<>();
        test.model("m", MODEL);
        open(execution -> {
            ExecutionRequest request = execution.requests().getFirst();
            seen.add(request.id());
            seen.add(request.correlationId().map(Object::toString).orElse("none"));
            seen.add(request.startsSequence() + " " + request.endsSequence());
            seen.add(request.timeoutMicros() + " " + request.priority());
            seen.add(request.parameters().toString());
            ScriptedBackend.copy(execution);
        });
        ModelCall call = call("m", "", 1);
        call.id("the call");
        call.step(new CorrelationId.Text("s"), true, false);
        call.timeoutMicros(60_000_000);
        call.priority(2);
        call.parameters().put("p", new ParameterValue.Bool(true));
        caller.server.infer(call, this::receive);
        ModelCall numbered = call("m", "", 1);
        numbered.step(new CorrelationId.Uint64(-1), false, true);
        caller.server.infer(numbered, this::receive);

        assertThat(seen)
                .containsExactly(
                        "the call",
                        "s",
                        "true false",
                        "60000000 2",
                        "{p=Bool[value=true]}",
                        "",
                        "18446744073709551615",
                        "false true",
                        "0 0",
                        "{}");
    }

    @Test
    void shouldGetEveryResponseOfADecoupledModel() {
        test.model("many", DECOUPLED);
        open(execution -> {
            sendThree(execution);
            execution.output(0, Datatype.FP32, Shape.of(1), Float.BYTES).set(ValueLayout.JAVA_FLOAT, 0, 9);
        });
        ModelCall call = call("many", "", 1);
        call.takeSeveral();
        caller.server.infer(call, this::receive);
        assertThat(got).extracting(Got::values).containsExactly(List.of(0f), List.of(1f), List.of(2f), List.of(9f));
        assertThat(got).extracting(Got::last).containsExactly(false, false, false, true);
    }

    @Test
    void shouldGetOneResponseOfAnyModelWhereSeveralMayCome() {
        test.model("m", MODEL);
        open(ScriptedBackend::copy);
        ModelCall call = call("m", "", 4);
        call.takeSeveral();
        caller.server.infer(call, this::receive);
        assertThat(got).containsExactly(new Got(List.of("OUT"), List.of(4f), Map.of(), true));
    }

    @Test
    void shouldRefuseADecoupledModelWhereOneResponseIsWanted() {
        test.model("many", DECOUPLED);
        open(BackendCallsTest::sendThree);
        assertThatThrownBy(() -> caller.server.infer(call("many", "", 1), this::receive))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
                .hasMessageContaining("decoupled");
        assertThat(got).isEmpty();
    }

    @Test
    void shouldEndTheResponsesWhenTheyAreNotTaken() {
        test.model("many", DECOUPLED);
        open(BackendCallsTest::sendThree);
        ModelCall call = call("many", "", 1);
        call.takeSeveral();
        assertThatThrownBy(() -> caller.server.infer(call, (outputs, parameters, last) -> {
                    throw new GatunException(ErrorCode.UNAVAILABLE, "nobody listens any more");
                }))
                .isInstanceOf(GatunException.class)
                .hasMessage("nobody listens any more");
    }

    @Test
    void shouldCancelACallThatWaits() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        test.model("m", MODEL);
        open(execution -> {
            busy.countDown();
            Await.opened(gate);
            ScriptedBackend.copy(execution);
        });
        Future<?> first = clients.submit(() -> caller.server.infer(call("m", "", 1), this::receive));
        Await.opened(busy);
        ModelCall unwanted = call("m", "", 2);
        Future<?> second = clients.submit(() -> caller.server.infer(unwanted, this::receive));
        Await.until(
                "the second call to wait",
                () -> test.server().statistics("m", "").getFirst().totals().pendingRequestCount() == 1);
        unwanted.cancel();
        assertThatThrownBy(() -> second.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        gate.countDown();
        first.get(30, TimeUnit.SECONDS);
        assertThat(got).extracting(Got::values).containsExactly(List.of(1f));
    }

    @Test
    void shouldNotRunACallThatWasCancelledBefore() {
        List<Execution> runs = new CopyOnWriteArrayList<>();
        test.model("m", MODEL);
        open(runs::add);
        ModelCall call = call("m", "", 1);
        call.cancel();
        assertThatThrownBy(() -> caller.server.infer(call, this::receive))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CANCELLED));
        assertThat(runs).isEmpty();
    }

    @Test
    void shouldSayWhichModelIsUnknown() {
        test.model("m", MODEL);
        open(ScriptedBackend::copy);
        assertFails(ErrorCode.NOT_FOUND, "Request for unknown model: 'none' is not found", call("none", "", 1));
        assertFails(ErrorCode.NOT_FOUND, "Request for unknown model: 'm' version 7 is not found", call("m", "7", 1));
    }

    @Test
    void shouldRefuseARequestThatDoesNotFitTheModel() {
        test.model("m", MODEL);
        open(ScriptedBackend::copy);
        ModelCall call = call("m", "", 1);
        call.output("NONE");
        assertThatThrownBy(() -> caller.server.infer(call, this::receive))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("NONE");
    }

    @Test
    void shouldTellWhichModelsAreReady() {
        test.model("m", MODEL, 1, 2);
        open(ScriptedBackend::copy);
        assertThat(caller.server.isReady("m", "")).isTrue();
        assertThat(caller.server.isReady("m", "2")).isTrue();
        assertThat(caller.server.isReady("m", "1"))
                .as("only the latest is served")
                .isFalse();
        assertThat(caller.server.isReady("m", "x")).isFalse();
        assertThat(caller.server.isReady("none", "")).isFalse();
    }

    @Test
    void shouldLoadAndUnloadModels(@TempDir Path outside) throws Exception {
        test.model("m", MODEL);
        open(ScriptedBackend::copy, options -> options.controlMode(ControlMode.EXPLICIT)
                .onlyModels(List.of("caller")));
        assertThat(caller.server.isReady("m", "")).isFalse();
        caller.server.load("m", "", Map.of());
        assertThat(caller.server.isReady("m", "")).isTrue();
        caller.server.infer(call("m", "", 1), this::receive);
        caller.server.unload("m", false);
        Await.until("the model to go", () -> !caller.server.isReady("m", ""));

        Path seen = outside.resolve("seen");
        test.backend.completion = (config, versionDirectory) -> {
            try {
                Files.copy(versionDirectory.resolve("weights"), seen);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return config;
        };
        String json = """
                {
                  "backend": "scripted",
                  "input": [ { "name": "IN", "data_type": "TYPE_FP32", "dims": [ -1 ] } ],
                  "output": [ { "name": "OUT", "data_type": "TYPE_FP32", "dims": [ -1 ] } ]
                }
                """;
        caller.server.load("m", json, Map.of("3/weights", MemorySegment.ofArray(new byte[] {1, 2, 3})));
        assertThat(caller.server.isReady("m", "3")).isTrue();
        assertThat(seen).hasBinaryContent(new byte[] {1, 2, 3});
        assertThatThrownBy(() -> caller.server.load("none", "", Map.of())).isInstanceOf(GatunException.class);
    }

    @Test
    void shouldLoadNothingWhereTheServerDecidesWhatIsLoaded() {
        test.model("m", MODEL);
        open(ScriptedBackend::copy);
        assertThatThrownBy(() -> caller.server.load("m", "", Map.of()))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        assertThatThrownBy(() -> caller.server.unload("m", false))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        assertThat(caller.server.isReady("m", "")).isTrue();
    }

    @Test
    void shouldShowTheMetricsThatABackendMakes() {
        open(ScriptedBackend::copy);
        try (ModelMetrics.Family family =
                        caller.server.metrics().family("calls", "What it asked", ModelMetrics.Kind.COUNTER);
                ModelMetrics.Metric metric = family.metric(Map.of(), List.of())) {
            metric.increment(2);
            assertThat(MetricLines.of(test.server().modelMetrics())).last().isEqualTo("calls{} 2.0");
        }
        assertThat(MetricLines.of(test.server().modelMetrics())).isEmpty();
    }

    @Test
    void shouldRefuseCallsBeforeTheServerHasModels() {
        ModelServer early = new BackendCalls(new MetricRegistry(), new TemporaryFolder());
        assertThat(early.isReady("m", "")).isFalse();
        assertThatThrownBy(() -> early.infer(new ModelCall("m", ""), this::receive))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage("the server is not ready for calls of backends yet");
    }
}
