// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tensors in memory that their client changes while the model runs. */
@Timeout(60)
class ClientMemoryTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String BATCHING = MODEL + "max_batch_size: 8 dynamic_batching { }\n";

    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(1);
    private final Arena arena = Arena.ofShared();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final MemorySegment window = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4);
    private final MemorySegment target = arena.allocate(16, 64);
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        arena.close();
    }

    /** Takes the input, has the client change it, and answers with what it sees then. */
    private void copyWhatChanges(Execution execution) {
        Tensor input = execution.input(0);
        window.fill((byte) 0);
        assertThat(execution.input(0).bytes()).as("one copy in a run").isEqualTo(input.bytes());
        ScriptedBackend.copy(execution);
    }

    @Test
    void shouldGiveTheModelACopyThatTheClientCannotChange() {
        test.model("m", MODEL).open(this::copyWhatChanges);
        assertThat(floats(infer(inWindow(4)))).containsExactly(1, 2, 3, 4);
    }

    @Test
    void shouldGiveTheModelTheClientsOwnMemoryWhereThatIsSafe() {
        List<Long> addresses = new ArrayList<>();
        test.model("m", MODEL)
                .openInPlace(
                        execution -> {
                            addresses.add(execution.input(0).bytes().address());
                            addresses.add(execution
                                    .output(0, Datatype.FP32, Shape.of(4), 16)
                                    .address());
                        },
                        "IN",
                        "OUT");
        infer(toTarget(inWindow(4))).close();
        assertThat(addresses).containsExactly(window.address(), target.address());
        ModelVersion model = test.server().model("m", "");
        assertThat(model.inputMemory("IN").isInPlace()).isTrue();
    }

    @Test
    void shouldUseTheClientsOwnMemoryWhereTheOperatorTrustsIt() {
        List<Long> addresses = new ArrayList<>();
        test.model("m", MODEL)
                .open(
                        execution -> {
                            addresses.add(execution.input(0).bytes().address());
                            addresses.add(execution
                                    .output(0, Datatype.FP32, Shape.of(4), 16)
                                    .address());
                        },
                        options -> options.models(ModelSettings.STANDARD.trustingClients(true)));
        infer(toTarget(inWindow(4))).close();
        assertThat(addresses).containsExactly(window.address(), target.address());
        ModelVersion model = test.server().model("m", "");
        assertThat(model.inputMemory("IN").isInPlace()).isTrue();
        assertThat(model.outputMemory("OUT").reason()).contains("trust-client-shm");
    }

    @Test
    void shouldTellWhyATensorIsCopied() {
        test.model("m", MODEL)
                .model("text", MODEL.replace("TYPE_FP32", "TYPE_STRING"))
                .open(ScriptedBackend::copy);
        ModelVersion model = test.server().model("m", "");
        assertThat(model.inputMemory("IN").isInPlace()).isFalse();
        assertThat(model.inputMemory("IN").reason()).isEqualTo("the test says so");
        assertThat(test.server().model("text", "").inputMemory("IN").reason()).isEqualTo("BYTES are always copied");
    }

    /** What a backend writes can be read again by it until the run is over, and no byte of the window is touched. */
    @Test
    void shouldWriteAnOutputToTheClientWhenTheRunIsOver() {
        test.model("m", MODEL).open(execution -> {
            MemorySegment output = execution.output(0, Datatype.FP32, Shape.of(2), 8);
            output.copyFrom(execution.input(0).bytes());
            assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
            target.fill((byte) -1);
            assertThat(output.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2);
        });
        try (InferenceResponse response = infer(toTarget(inWindow(2)))) {
            assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
        }
        assertThat(target.asSlice(0, 8).toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2);
        assertThat(target.asSlice(8).toArray(ValueLayout.JAVA_BYTE)).containsOnly((byte) -1);
    }

    @Test
    void shouldLeaveTheClientsMemoryAloneWhereTheRunFails() {
        test.model("m", MODEL).open(execution -> {
            ScriptedBackend.copy(execution);
            throw GatunException.invalidArgument("no such row");
        });
        InferenceRequest request = toTarget(inWindow(4));
        assertThatThrownBy(() -> infer(request)).hasMessageContaining("no such row");
        assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
    }

    @Test
    void shouldRefuseARequestWhoseCopyFindsNoRoom() {
        test.model("m", MODEL).open(this::copyWhatChanges);
        try (Buffer all = test.pool.take(test.pool.byteLimit())) {
            InferenceRequest request = toTarget(inWindow(4));
            assertThat(all.byteSize()).isPositive();
            assertThatThrownBy(() -> infer(request))
                    .isInstanceOfSatisfying(GatunException.class, failure -> assertThat(failure.code())
                            .isEqualTo(ErrorCode.UNAVAILABLE));
        }
        assertThat(floats(infer(inWindow(4)))).containsExactly(1, 2, 3, 4);
    }

    /** The place of an input among those that are there is not its place in the configuration. */
    @Test
    void shouldCopyTheRightInputWhereAnotherIsLeftOut() {
        List<Long> addresses = new ArrayList<>();
        String two = MODEL.replace(
                "input [ {",
                "input [ { name: \"SAFE\" data_type: TYPE_FP32 dims: [ -1 ] optional: true },"
                        + " { name: \"MORE\" data_type: TYPE_FP32 dims: [ -1 ] }, {");
        test.model("m", two)
                .openInPlace(
                        execution -> {
                            for (int i = 0; i < execution.inputCount(); i++) {
                                addresses.add(execution.input(i).bytes().address());
                            }
                            execution.output(0, Datatype.FP32, Shape.of(0), 0);
                        },
                        "SAFE",
                        "MORE");
        InferenceRequest request = inWindow(2);
        FakeRegions.Lease more = new FakeRegions.Lease(window.asSlice(8, 8));
        request.hold(more);
        request.addInput(Tensor.inRegion(new TensorSpec("MORE", Datatype.FP32, Shape.of(2)), more));
        infer(request).close();
        assertThat(addresses).hasSize(2).first().isEqualTo(window.address() + 8);
        assertThat(addresses.getLast()).isNotEqualTo(window.address());
    }

    /** Windows side by side would be one tensor as they are. */
    @Test
    void shouldCopyTheInputsOfABatchOnce() throws Exception {
        test.model("m", BATCHING).open(behindTheFirst(execution -> {
            assertThat(execution.input(0).spec().shape()).isEqualTo(Shape.of(2, 2));
            copyWhatChanges(execution);
        }));
        List<Future<InferenceResponse>> responses = together(
                row(window.asSlice(0, 8), target.asSlice(0, 8)), row(window.asSlice(8, 8), target.asSlice(8, 8)));
        for (Future<InferenceResponse> response : responses) {
            response.get(30, TimeUnit.SECONDS).close();
        }
        assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4);
    }

    @Test
    void shouldLeaveTheWindowsOfABatchAloneUntilItIsOver() throws Exception {
        test.model("m", BATCHING).open(behindTheFirst(execution -> {
            ScriptedBackend.copy(execution);
            assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
            throw GatunException.invalidArgument("no such row");
        }));
        List<Future<InferenceResponse>> responses = together(
                row(window.asSlice(0, 8), target.asSlice(0, 8)), row(window.asSlice(8, 8), target.asSlice(8, 8)));
        for (Future<InferenceResponse> response : responses) {
            assertThatThrownBy(() -> response.get(30, TimeUnit.SECONDS)).hasMessageContaining("no such row");
        }
        assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
    }

    @Test
    void shouldCopyTheInputOfAStepOfASequence() {
        test.model("m", MODEL + "sequence_batching { }\n").open(this::copyWhatChanges);
        InferenceRequest step = toTarget(inWindow(4));
        step.correlationId(7);
        step.sequenceStart(true);
        step.sequenceEnd(true);
        infer(step).close();
        assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4);
    }

    /** The window holds the last of several responses. */
    @Test
    void shouldWriteEachResponseOfADecoupledModel() {
        test.model("m", MODEL + "model_transaction_policy { decoupled: true }\n")
                .open(execution -> {
                    for (int i = 1; i <= 3; i++) {
                        execution
                                .output(0, Datatype.FP32, Shape.of(1), 4)
                                .setAtIndex(
                                        ValueLayout.JAVA_FLOAT,
                                        0,
                                        i * execution.input(0).bytes().get(ValueLayout.JAVA_FLOAT, 0));
                        assertThat(target.get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(i - 1);
                        execution.send();
                        window.fill((byte) 0);
                    }
                });
        List<Boolean> inSharedMemory = new ArrayList<>();
        test.server().infer(toTarget(inWindow(4)), (response, last) -> {
            response.outputs().forEach(output -> inSharedMemory.add(output.inSharedMemory()));
            response.close();
        });
        assertThat(inSharedMemory).containsExactly(true, true, true);
        assertThat(target.get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(3);
    }

    @Test
    void shouldGiveTheModelWhatTheClientCannotChangeInEachStepOfAnEnsemble() {
        test.model("m", MODEL).model("both", """
                        platform: "ensemble"
                        input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        ensemble_scheduling { step [
                          { model_name: "m" model_version: -1
                            input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "half" } },
                          { model_name: "m" model_version: -1
                            input_map { key: "IN" value: "half" } output_map { key: "OUT" value: "OUT" } } ] }
                        """).open(this::copyWhatChanges);
        infer(toTarget(inWindow("both", 4))).close();
        assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3, 4);
        assertThat(test.server().model("both", "").inputMemory("IN").reason())
                .isEqualTo("step 0, model 'm': the test says so");
        assertThat(test.server().model("both", "").outputMemory("OUT").reason())
                .isEqualTo("step 1, model 'm': the test says so");
    }

    /** Else a client could have others answered with the response to what it never sent. */
    @Test
    void shouldCacheTheResponseToTheBytesThatRan() {
        test.model("m", MODEL + "response_cache { enable: true }\n")
                .open(this::copyWhatChanges, options -> options.responseCacheByteSize(1 << 20));
        assertThat(floats(infer(inWindow(4)))).containsExactly(1, 2, 3, 4);
        assertThat(floats(infer(plain(0, 0, 0, 0)))).containsExactly(0, 0, 0, 0);
        assertThat(floats(infer(plain(1, 2, 3, 4)))).containsExactly(1, 2, 3, 4);
        assertThat(test.server().statistics("m", "").getFirst().cache().hitCount())
                .isEqualTo(1);
    }

    private Consumer<Execution> behindTheFirst(Consumer<Execution> script) {
        return execution -> {
            if (busy.getCount() > 0) {
                busy.countDown();
                Await.opened(gate);
                ScriptedBackend.copy(execution);
            } else {
                script.accept(execution);
            }
        };
    }

    /** Sends requests that wait for the first, and so run together. */
    private List<Future<InferenceResponse>> together(InferenceRequest... requests) {
        InferenceRequest first = test.input(test.request("m"), "IN", 1, 2);
        Future<InferenceResponse> running = clients.submit(() -> test.server().infer(first));
        Await.opened(busy);
        List<Future<InferenceResponse>> responses = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            InferenceRequest request = requests[i];
            responses.add(clients.submit(() -> test.server().infer(request)));
            int waiting = i + 1;
            Await.until(
                    "the request to wait",
                    () -> test.server().statistics().getFirst().totals().pendingRequestCount() == waiting);
        }
        gate.countDown();
        Await.until("the first", running::isDone);
        running.resultNow().close();
        return responses;
    }

    private InferenceRequest row(MemorySegment from, MemorySegment to) {
        InferenceRequest request = test.request("m");
        FakeRegions.Lease lease = new FakeRegions.Lease(from);
        request.hold(lease);
        request.addInput(Tensor.inRegion(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 2)), lease));
        return to(request, to);
    }

    private InferenceRequest inWindow(int count) {
        return inWindow("m", count);
    }

    private InferenceRequest inWindow(String model, int count) {
        InferenceRequest request = test.request(model);
        FakeRegions.Lease lease = new FakeRegions.Lease(window.asSlice(0, (long) count * Float.BYTES));
        request.hold(lease);
        request.addInput(Tensor.inRegion(new TensorSpec("IN", Datatype.FP32, Shape.of(count)), lease));
        return request;
    }

    private InferenceRequest plain(float... values) {
        InferenceRequest request = test.request("m");
        Buffer buffer = test.pool.take((long) values.length * Float.BYTES);
        MemorySegment.copy(values, 0, buffer.segment(), ValueLayout.JAVA_FLOAT, 0, values.length);
        request.hold(buffer);
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(values.length)), buffer.segment()));
        return request;
    }

    private InferenceRequest toTarget(InferenceRequest request) {
        return to(request, target);
    }

    private static InferenceRequest to(InferenceRequest request, MemorySegment segment) {
        FakeRegions.Lease lease = new FakeRegions.Lease(segment);
        request.hold(lease);
        request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
        return request;
    }

    private InferenceResponse infer(InferenceRequest request) {
        return test.server().infer(request);
    }

    private static float[] floats(InferenceResponse response) {
        try (response) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }
}
