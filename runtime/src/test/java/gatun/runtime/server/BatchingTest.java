// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
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
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests that wait while the only instance is busy, and then run together. */
@Timeout(60)
class BatchingTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 8
            dynamic_batching { }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private static final String STRINGS = MODEL.replace("TYPE_FP32", "TYPE_STRING");

    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(1);
    private final List<Shape> shapes = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
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

    /** Serves the model; the first run waits until all requests of {@link #together} have come. */
    private void open(String model, Consumer<Execution> script) {
        test.model("m", model).open(behindTheFirst(script));
    }

    private Consumer<Execution> behindTheFirst(Consumer<Execution> script) {
        return execution -> {
            if (busy.getCount() > 0) {
                busy.countDown();
                Await.opened(gate);
            } else {
                shapes.add(execution.inputSpec(0).shape());
            }
            script.accept(execution);
        };
    }

    @Test
    void shouldTellTheEngineForHowLongSomebodyWaits() throws Exception {
        BlockingQueue<Long> left = new LinkedBlockingQueue<>();
        open(MODEL, execution -> {
            left.add(execution.timeLeftNanos());
            ScriptedBackend.copy(execution);
        });
        InferenceRequest one = test.input(test.request("m"), "IN", 1, 2);
        InferenceRequest two = test.input(test.request("m"), "IN", 1, 2);
        one.timeLeftNanos(TimeUnit.HOURS.toNanos(1));
        two.timeLeftNanos(TimeUnit.HOURS.toNanos(3));
        List<Future<InferenceResponse>> answers = together(one, two);
        gate.countDown();
        for (Future<InferenceResponse> answer : answers) {
            answer.get(20, TimeUnit.SECONDS).close();
        }
        assertThat(left).hasSize(2);
        assertThat(left.remove()).as("of a request without a deadline").isEqualTo(Long.MAX_VALUE);
        assertThat(left.remove())
                .as("of two requests together")
                .isBetween(TimeUnit.HOURS.toNanos(1), TimeUnit.HOURS.toNanos(3));
    }

    /** The responses to these requests, which wait behind another one until all are there. */
    private List<Future<InferenceResponse>> together(InferenceRequest... requests) {
        InferenceRequest blocker = test.request("m");
        copyInputs(requests[0], blocker);
        clients.execute(() -> {
            try (blocker) {
                test.server().infer(blocker).close();
            } catch (GatunException e) {
                // The scripts of some tests fail for every request.
            }
        });
        Await.opened(busy);
        List<Future<InferenceResponse>> responses = new ArrayList<>();
        for (int i = 0; i < requests.length; i++) {
            InferenceRequest request = requests[i];
            responses.add(clients.submit(() -> {
                try (request) {
                    return test.server().infer(request);
                }
            }));
            awaitPending(i + 1);
        }
        gate.countDown();
        return responses;
    }

    private static void copyInputs(InferenceRequest from, InferenceRequest to) {
        from.inputs().forEach(to::addInput);
    }

    private void awaitPending(int count) {
        Await.until(
                "%s to wait".formatted(count),
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() >= count);
    }

    private InferenceRequest floats(int rows, float... values) {
        return tensor(test.request("m"), "IN", rows, values);
    }

    private InferenceRequest tensor(InferenceRequest request, String name, int rows, float... values) {
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        request.addInput(new Tensor(new TensorSpec(name, Datatype.FP32, Shape.of(rows, values.length / rows)), bytes));
        return request;
    }

    private static float[] answer(Future<InferenceResponse> future)
            throws InterruptedException, ExecutionException, TimeoutException {
        try (InferenceResponse response = future.get(30, TimeUnit.SECONDS)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private FakeRegions.Lease window(InferenceRequest request, MemorySegment segment) {
        FakeRegions.Lease lease = new FakeRegions.Lease(segment);
        request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
        request.hold(lease);
        return lease;
    }

    @Test
    void shouldRunTogetherAndAnswerEachWithItsOwn() throws Exception {
        open(MODEL, ScriptedBackend::copy);
        List<Future<InferenceResponse>> responses =
                together(floats(1, 1, 2), floats(3, 3, 4, 5, 6, 7, 8), floats(2, 9, 10, 11, 12));
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        try (InferenceResponse second = responses.get(1).get()) {
            assertThat(second.outputs().getFirst().tensor().spec().shape()).isEqualTo(Shape.of(3, 2));
        }
        assertThat(answer(responses.get(2))).containsExactly(9, 10, 11, 12);
        assertThat(shapes).containsExactly(Shape.of(6, 2));
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.successCount()).isEqualTo(4);
        assertThat(statistics.executionCount()).isEqualTo(2);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(7);
        assertThat(statistics.totals().nanos().request())
                .isEqualTo(statistics.totals().nanos().queue()
                        + statistics.totals().nanos().computeInput()
                        + statistics.totals().nanos().computeInfer()
                        + statistics.totals().nanos().computeOutput());
    }

    @Test
    void shouldNotPutDifferentShapesIntoOneBatch() throws Exception {
        open(MODEL, ScriptedBackend::copy);
        List<Future<InferenceResponse>> responses = together(floats(1, 1, 2), floats(1, 3, 4), floats(1, 5));
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        assertThat(answer(responses.get(1))).containsExactly(3, 4);
        assertThat(answer(responses.get(2))).containsExactly(5);
        assertThat(shapes).containsExactly(Shape.of(2, 2), Shape.of(1, 1));
    }

    @Test
    void shouldPutOnlyRequestsWithTheSameInputsIntoOneBatch() throws Exception {
        String optional = MODEL.replace(
                "dims: [ -1 ] } ]\noutput",
                "dims: [ -1 ] }, { name: \"MORE\" data_type: TYPE_FP32 dims: [ -1 ] optional: true } ]\noutput");
        open(optional, ScriptedBackend::copy);
        List<Future<InferenceResponse>> responses =
                together(floats(1, 1), tensor(floats(1, 2), "MORE", 1, 9), tensor(floats(1, 3), "MORE", 1, 9));
        assertThat(answer(responses.get(0))).containsExactly(1);
        assertThat(answer(responses.get(1))).containsExactly(2);
        assertThat(answer(responses.get(2))).containsExactly(3);
        assertThat(shapes).containsExactly(Shape.of(1, 1), Shape.of(2, 1));
    }

    @Test
    void shouldUseInputsAndWindowsThatLieSideBySideInPlace() throws Exception {
        List<Long> addresses = new ArrayList<>();
        MemorySegment in = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3);
        MemorySegment out = arena.allocate(12);
        Consumer<Execution> script = execution -> {
            Tensor input = execution.input(0);
            MemorySegment output = execution.output(
                    0, Datatype.FP32, input.spec().shape(), input.bytes().byteSize());
            addresses.add(input.bytes().address());
            addresses.add(output.address());
            output.copyFrom(input.bytes());
        };
        test.model("m", MODEL).openInPlace(behindTheFirst(script), "IN", "OUT");
        InferenceRequest first = test.request("m");
        first.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 1)), in.asSlice(0, 4)));
        FakeRegions.Lease firstWindow = window(first, out.asSlice(0, 4));
        InferenceRequest second = test.request("m");
        second.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(2, 1)), in.asSlice(4, 8)));
        window(second, out.asSlice(4, 8));
        List<Future<InferenceResponse>> responses = together(first, second);
        for (Future<InferenceResponse> answer : responses) {
            answer.get(30, TimeUnit.SECONDS).close();
        }
        assertThat(addresses.subList(2, 4)).containsExactly(in.address(), out.address());
        assertThat(out.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2, 3);
        assertThat(firstWindow.settled).isEqualTo(1);
        assertThat(firstWindow.closed).isEqualTo(1);
    }

    @Test
    void shouldScatterIntoWindowsThatLieApartAndFailOnlyTheRequestWhoseWindowDoesNotSuit() throws Exception {
        open(MODEL, ScriptedBackend::copy);
        InferenceRequest suited = floats(1, 1, 2);
        MemorySegment target = arena.allocate(8, 64);
        window(suited, target);
        InferenceRequest tooSmall = floats(1, 3, 4);
        window(tooSmall, arena.allocate(7));
        InferenceRequest broken = floats(1, 5, 6);
        window(broken, arena.allocate(8, 64)).broken = true;
        List<Future<InferenceResponse>> responses = together(suited, tooSmall, broken, floats(1, 7, 8));
        try (InferenceResponse response = responses.get(0).get(30, TimeUnit.SECONDS)) {
            assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
            assertThat(target.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(1, 2);
        }
        assertThatThrownBy(() -> responses.get(1).get(30, TimeUnit.SECONDS))
                .hasRootCauseMessage(
                        "shared memory size specified with the request for output 'OUT' (7 bytes) should be"
                                + " at least 8 bytes to hold the results");
        assertThatThrownBy(() -> responses.get(2).get(30, TimeUnit.SECONDS))
                .hasRootCauseMessage("the region was taken away");
        assertThat(answer(responses.get(3))).containsExactly(7, 8);
        assertThat(shapes).containsExactly(Shape.of(4, 2));
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.successCount()).isEqualTo(3);
        assertThat(statistics.failureCount()).isEqualTo(2);
    }

    @Test
    void shouldAnswerWithEachRequestsOwnInput() throws Exception {
        open(
                MODEL,
                execution ->
                        execution.outputFromInput(0, 0, execution.inputSpec(0).shape()));
        InferenceRequest owner = test.input(test.request("m"), "IN", 2, 3);
        long address = owner.inputs().getFirst().bytes().address();
        InferenceRequest inRegion = test.request("m");
        FakeRegions.Lease lease = new FakeRegions.Lease(arena.allocateFrom(ValueLayout.JAVA_FLOAT, 4, 5, 6));
        inRegion.hold(lease);
        inRegion.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(1, 3)), lease.segment()));
        List<Future<InferenceResponse>> responses = together(owner, inRegion);
        try (InferenceResponse response = responses.get(0).get(30, TimeUnit.SECONDS)) {
            assertThat(response.outputs().getFirst().tensor().bytes().address()).isEqualTo(address);
        }
        assertThat(answer(responses.get(1))).containsExactly(4, 5, 6);
        assertThat(shapes).containsExactly(Shape.of(3, 3));
    }

    @Test
    void shouldCutStringsWhereEachRequestsEnd() throws Exception {
        open(STRINGS, ScriptedBackend::copy);
        List<Future<InferenceResponse>> responses =
                together(strings(2, "a", "bb", "", "dddd"), strings(1, "e", "a longer one"), strings(1, "", ""));
        assertThat(texts(responses.get(0))).containsExactly("a", "bb", "", "dddd");
        assertThat(texts(responses.get(1))).containsExactly("e", "a longer one");
        assertThat(texts(responses.get(2))).containsExactly("", "");
        assertThat(shapes).containsExactly(Shape.of(4, 2));
    }

    private InferenceRequest strings(int rows, String... texts) {
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(List.of(texts)));
        BytesCodec.encodeText(List.of(texts), bytes);
        InferenceRequest request = test.request("m");
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.BYTES, Shape.of(rows, texts.length / rows)), bytes));
        return request;
    }

    private static List<String> texts(Future<InferenceResponse> future) throws Exception {
        try (InferenceResponse response = future.get(30, TimeUnit.SECONDS)) {
            MemorySegment bytes = response.outputs().getFirst().tensor().bytes();
            List<String> texts = new ArrayList<>();
            long at = 0;
            while (at < bytes.byteSize()) {
                long size = BytesCodec.elementByteSize(bytes, at);
                texts.add(BytesCodec.text(bytes, at + BytesCodec.LENGTH_BYTES, size));
                at += BytesCodec.LENGTH_BYTES + size;
            }
            return texts;
        }
    }

    @Test
    void shouldGiveEachRequestTheOutputsAndClassesItWants() throws Exception {
        String two = MODEL.replace("output [ {", "output [ { name: \"OTHER\" data_type: TYPE_FP32 dims: [ -1 ] }, {");
        open(two, execution -> {
            Tensor input = execution.input(0);
            for (int i = 0; i < execution.outputCount(); i++) {
                execution
                        .output(
                                i,
                                Datatype.FP32,
                                input.spec().shape(),
                                input.bytes().byteSize())
                        .copyFrom(input.bytes());
            }
        });
        InferenceRequest classes = floats(1, 1, 5, 3);
        classes.addOutput(new RequestedOutput("OUT", Optional.empty(), 2));
        InferenceRequest other = floats(1, 7, 8, 9);
        other.addOutput(RequestedOutput.of("OTHER"));
        List<Future<InferenceResponse>> responses = together(classes, other, floats(1, 0, 0, 0));
        assertThat(texts(responses.get(0))).containsExactly("5.000000:1", "3.000000:2");
        try (InferenceResponse response = responses.get(1).get(30, TimeUnit.SECONDS)) {
            assertThat(response.outputs()).hasSize(1);
            assertThat(response.outputs().getFirst().tensor().spec().name()).isEqualTo("OTHER");
        }
        try (InferenceResponse response = responses.get(2).get(30, TimeUnit.SECONDS)) {
            assertThat(response.outputs())
                    .extracting(output -> output.tensor().spec().name())
                    .containsExactly("OTHER", "OUT");
        }
        assertThat(shapes).containsExactly(Shape.of(3, 3));
    }

    @Test
    void shouldFailAllRequestsOfABatchThatTheEngineFails() {
        open(MODEL, execution -> {
            Shape shape = execution.inputSpec(0).shape();
            execution.output(0, Datatype.FP32, shape, shape.byteSize(Datatype.FP32));
            throw GatunException.invalidArgument("the engine is tired");
        });
        for (Future<InferenceResponse> answer : together(floats(1, 1), floats(1, 2))) {
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("the engine is tired");
        }
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.totals().failures().backend()).isEqualTo(3);
        assertThat(statistics.executionCount()).isZero();
    }

    @Test
    void shouldAnswerRequestsAloneWhoseBatchGivesAnOutputWithoutARowForEach() throws Exception {
        open(MODEL, execution -> execution
                .output(0, Datatype.FP32, Shape.of(1, 1), Float.BYTES)
                .set(ValueLayout.JAVA_FLOAT, 0, 3));
        for (Future<InferenceResponse> answer : together(floats(1, 1), floats(1, 2))) {
            assertThat(answer(answer)).containsExactly(3);
        }
        assertThat(shapes).containsExactly(Shape.of(2, 1), Shape.of(1, 1), Shape.of(1, 1));
    }

    @Test
    void shouldSendNoMoreThanTheModelTakes() throws Exception {
        open(MODEL, ScriptedBackend::copy);
        List<Future<InferenceResponse>> responses =
                together(floats(5, 1, 2, 3, 4, 5), floats(4, 1, 2, 3, 4), floats(4, 5, 6, 7, 8));
        for (Future<InferenceResponse> answer : responses) {
            answer(answer);
        }
        assertThat(shapes).containsExactly(Shape.of(5, 1), Shape.of(8, 1));
    }
}
