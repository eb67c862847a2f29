// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.RequestedOutput;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Batches of a model that takes its requests apart, and memory that a backend lends for outputs. */
@Timeout(60)
class ApartBatchTest {
    private static final String MODEL = """
            backend: "apart"
            max_batch_size: 8
            dynamic_batching { }
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(1);
    private final Arena arena = Arena.ofShared();
    private final List<Lent> lent = new CopyOnWriteArrayList<>();
    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private TestServer test;

    /** Memory of the backend's. */
    private static final class Lent implements Hold {
        final MemorySegment bytes;
        final AtomicInteger closed = new AtomicInteger();

        Lent(MemorySegment bytes) {
            this.bytes = bytes;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    /** Runs what the test says on the requests of each run but the first, which occupies the only instance. */
    private final class Apart implements Backend {
        private final Consumer<List<? extends Execution>> script;

        Apart(Consumer<List<? extends Execution>> script) {
            this.script = script;
        }

        @Override
        public String name() {
            return "apart";
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            return new BackendModel() {
                @Override
                public BackendInstance newInstance(InstanceSpec spec) {
                    return new Instance();
                }

                @Override
                public boolean takesRequestsApart() {
                    return true;
                }
            };
        }

        private final class Instance implements BackendInstance {
            @Override
            public void execute(Execution execution) {
                if (busy.getCount() > 0) {
                    busy.countDown();
                    Await.opened(gate);
                    ScriptedBackend.copy(execution);
                } else {
                    script.accept(List.of(execution));
                }
            }

            @Override
            public void executeApart(List<? extends Execution> executions) {
                script.accept(executions);
            }
        }
    }

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
        assertThat(lent).allSatisfy(memory -> assertThat(memory.closed)
                .as("how often lent memory came back")
                .hasValue(1));
    }

    private void open(Consumer<List<? extends Execution>> script) {
        open(MODEL, script);
    }

    private void open(String config, Consumer<List<? extends Execution>> script) {
        test.model("m", config).open(ScriptedBackend::copy, options -> options.backend(new Apart(script)));
    }

    private InferenceRequest request(float... values) {
        return rows(1, values);
    }

    private InferenceRequest rows(int rows, float... values) {
        InferenceRequest request = test.request("m");
        request.addInput(new Tensor(
                new TensorSpec("IN", Datatype.FP32, Shape.of(rows, values.length / rows)),
                arena.allocateFrom(ValueLayout.JAVA_FLOAT, values)));
        return request;
    }

    /** The responses to these requests, which wait behind another one until all are there. */
    private List<Future<InferenceResponse>> together(InferenceRequest... requests) throws Exception {
        return behind(request(0, 0), requests);
    }

    private List<Future<InferenceResponse>> behind(InferenceRequest blocker, InferenceRequest... requests)
            throws Exception {
        Future<?> blocked = clients.submit(() -> {
            try (blocker) {
                test.server().infer(blocker).close();
            }
        });
        Await.opened(busy);
        List<Future<InferenceResponse>> responses = new ArrayList<>();
        for (InferenceRequest request : requests) {
            responses.add(clients.submit(() -> {
                try (request) {
                    return test.server().infer(request);
                }
            }));
            Await.until(
                    "%s to wait".formatted(responses.size()),
                    () -> statistics().totals().pendingRequestCount() == responses.size());
        }
        gate.countDown();
        blocked.get(30, TimeUnit.SECONDS);
        return responses;
    }

    private ModelStatistics statistics() {
        return test.server().statistics().getFirst();
    }

    private static float[] floats(Tensor tensor) {
        return tensor.bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    private static float[] answer(Future<InferenceResponse> future) throws Exception {
        try (InferenceResponse response = future.get(30, TimeUnit.SECONDS)) {
            return floats(response.outputs().getFirst().tensor());
        }
    }

    private static GatunException failure(Future<InferenceResponse> future) throws Exception {
        try {
            future.get(30, TimeUnit.SECONDS).close();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GatunException failure) {
                return failure;
            }
            throw e;
        }
        throw new AssertionError("the request did not fail");
    }

    private static void assertFailed(Future<InferenceResponse> future, ErrorCode code, String message)
            throws Exception {
        GatunException failure = failure(future);
        assertThat(failure).hasMessage(message);
        assertThat(failure.code()).isEqualTo(code);
    }

    /** Answers with memory of the backend's that has these elements. */
    private Lent lend(Execution execution, float... values) {
        Lent memory = new Lent(arena.allocateFrom(ValueLayout.JAVA_FLOAT, values));
        lent.add(memory);
        execution.lendOutput(0, Datatype.FP32, Shape.of(1, values.length), memory.bytes, memory);
        return memory;
    }

    @Test
    void shouldRunRaggedRequestsTogetherWithTheirOwnShapes() throws Exception {
        List<List<Shape>> runs = new CopyOnWriteArrayList<>();
        open(
                MODEL.replace("dims: [ -1 ] } ]\noutput", "dims: [ -1 ] allow_ragged_batch: true } ]\noutput"),
                executions -> {
                    runs.add(executions.stream()
                            .map(execution -> execution.input(0).spec().shape())
                            .toList());
                    executions.forEach(ScriptedBackend::copy);
                });

        List<Future<InferenceResponse>> responses = together(rows(1, 1, 2, 3), rows(2, 4, 5), request(6, 7));

        assertThat(answer(responses.get(0))).containsExactly(1, 2, 3);
        assertThat(answer(responses.get(1))).containsExactly(4, 5);
        assertThat(answer(responses.get(2))).containsExactly(6, 7);
        assertThat(runs).containsExactly(List.of(Shape.of(1, 3), Shape.of(2, 1), Shape.of(1, 2)));
    }

    @Test
    void shouldGiveEachRequestOfARunTensorsOfItsOwn() throws Exception {
        List<Shape> shapes = new CopyOnWriteArrayList<>();
        List<Long> addresses = new CopyOnWriteArrayList<>();
        AtomicInteger runs = new AtomicInteger();
        open(executions -> {
            runs.incrementAndGet();
            for (Execution execution : executions) {
                assertThat(execution.requests()).hasSize(1);
                shapes.add(execution.input(0).spec().shape());
                addresses.add(execution.input(0).bytes().address());
                ScriptedBackend.copy(execution);
            }
        });
        InferenceRequest[] requests = {rows(1, 1, 2), rows(3, 3, 4, 5, 6, 7, 8), rows(2, 9, 10, 11, 12)};
        List<Long> sent = new ArrayList<>();
        for (InferenceRequest request : requests) {
            sent.add(request.inputs().getFirst().bytes().address());
        }

        List<Future<InferenceResponse>> responses = together(requests);
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        assertThat(answer(responses.get(1))).containsExactly(3, 4, 5, 6, 7, 8);
        assertThat(answer(responses.get(2))).containsExactly(9, 10, 11, 12);
        assertThat(runs).hasValue(1);
        assertThat(shapes).containsExactly(Shape.of(1, 2), Shape.of(3, 2), Shape.of(2, 2));
        assertThat(addresses).as("nothing is copied").isEqualTo(sent);
    }

    @Test
    void shouldCountOneExecutionForARun() throws Exception {
        open(executions -> executions.forEach(ScriptedBackend::copy));
        for (Future<InferenceResponse> response :
                together(rows(1, 1, 2), rows(3, 3, 4, 5, 6, 7, 8), rows(2, 9, 10, 11, 12))) {
            answer(response);
        }
        ModelStatistics statistics = statistics();
        assertThat(statistics.successCount()).isEqualTo(4);
        assertThat(statistics.executionCount()).as("with the one before").isEqualTo(2);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(7);
        assertThat(statistics.batches()).extracting(BatchStatistics::batchSize).containsExactly(1, 6);
        assertThat(statistics.batches())
                .extracting(BatchStatistics::executionCount)
                .containsExactly(1L, 1L);
    }

    @Test
    void shouldFailOneRequestOfARunAlone() throws Exception {
        open(executions -> {
            executions.forEach(execution -> lend(execution, floats(execution.input(0))));
            executions.get(1).requests().getFirst().fail(new GatunException(ErrorCode.NOT_FOUND, "there is no such"));
        });
        List<Future<InferenceResponse>> responses = together(request(1, 2), request(3, 4), request(5, 6));
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        assertFailed(responses.get(1), ErrorCode.NOT_FOUND, "there is no such");
        assertThat(answer(responses.get(2))).containsExactly(5, 6);
        assertThat(lent).hasSize(3);
        assertThat(statistics().successCount()).isEqualTo(3);
        assertThat(statistics().totals().failures().backend()).isEqualTo(1);
        assertThat(statistics().executionCount()).isEqualTo(2);
    }

    @Test
    void shouldFailOnlyTheRequestWhoseOutputIsMissing() throws Exception {
        open(executions -> {
            ScriptedBackend.copy(executions.get(0));
            ScriptedBackend.copy(executions.get(2));
        });
        List<Future<InferenceResponse>> responses = together(request(1, 2), request(3, 4), request(5, 6));
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        assertFailed(responses.get(1), ErrorCode.INTERNAL, "the backend gave no output 'OUT' of model 'm'");
        assertThat(answer(responses.get(2))).containsExactly(5, 6);
    }

    @Test
    void shouldFailAllRequestsOfARunThatFails() throws Exception {
        open(executions -> {
            lend(executions.getFirst(), 7);
            throw new GatunException(ErrorCode.UNAVAILABLE, "the process has ended");
        });
        for (Future<InferenceResponse> response : together(request(1, 2), request(3, 4))) {
            assertFailed(response, ErrorCode.UNAVAILABLE, "the process has ended");
        }
        assertThat(lent).hasSize(1);
        assertThat(statistics().successCount()).as("the one before").isEqualTo(1);
    }

    @Test
    void shouldAnswerWithTheVeryMemoryThatIsLentAndGiveItBackOnce() throws Exception {
        open(executions -> executions.forEach(execution -> lend(execution, floats(execution.input(0)))));
        List<Future<InferenceResponse>> responses = together(request(1, 2), request(3, 4));
        try (InferenceResponse second = responses.get(1).get(30, TimeUnit.SECONDS)) {
            InferenceResponse first = responses.get(0).get(30, TimeUnit.SECONDS);
            assertThat(first.outputs().getFirst().tensor().bytes().address())
                    .as("nothing is copied")
                    .isEqualTo(lent.get(0).bytes.address());
            assertThat(lent.get(0).closed).hasValue(0);
            first.close();
            assertThat(lent.get(0).closed).hasValue(1);
            first.close();
            assertThat(lent.get(0).closed).hasValue(1);
            assertThat(lent.get(1).closed).as("the other's").hasValue(0);
            assertThat(floats(second.outputs().getFirst().tensor())).containsExactly(3, 4);
        }
        assertThat(lent).hasSize(2);
    }

    @Test
    void shouldAnswerASingleRequestWithMemoryThatIsLent() throws Exception {
        open(executions -> executions.forEach(execution -> lend(execution, floats(execution.input(0)))));
        assertThat(answer(together(request(1, 2)).getFirst())).containsExactly(1, 2);
        assertThat(lent).hasSize(1);
    }

    @Test
    void shouldGiveMemoryBackAtOnceThatIsReplaced() throws Exception {
        open(executions -> {
            Lent first = lend(executions.getFirst(), 1);
            Lent second = lend(executions.getFirst(), 2);
            assertThat(first.closed).hasValue(1);
            assertThat(second.closed).hasValue(0);
            ScriptedBackend.copy(executions.getLast());
        });
        List<Future<InferenceResponse>> responses = together(request(1, 2), request(3, 4));
        assertThat(answer(responses.get(0))).containsExactly(2);
        assertThat(answer(responses.get(1))).containsExactly(3, 4);
        assertThat(lent).hasSize(2);
    }

    @Test
    void shouldGiveMemoryBackThatIsLentForAnOutputThatIsNotThere() throws Exception {
        open(executions -> executions.forEach(execution -> {
            Lent memory = new Lent(arena.allocate(4));
            lent.add(memory);
            execution.lendOutput(7, Datatype.FP32, Shape.of(1, 1), memory.bytes, memory);
        }));

        assertThat(failure(together(request(1)).getFirst()).code()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(lent).hasSize(1);
    }

    @Test
    void shouldAnswerWithTheDatatypeAndTheShapeOfMemoryThatIsLent() throws Exception {
        open(executions -> {
            Lent memory = new Lent(arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1, (byte) 2, (byte) 3));
            lent.add(memory);
            executions.getFirst().lendOutput(0, Datatype.INT8, Shape.of(3), memory.bytes, memory);
        });
        try (InferenceResponse response = together(request(1, 2)).getFirst().get(30, TimeUnit.SECONDS)) {
            Tensor out = response.outputs().getFirst().tensor();
            assertThat(out.spec()).isEqualTo(new TensorSpec("OUT", Datatype.INT8, Shape.of(3)));
            assertThat(out.bytes().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3);
        }
    }

    @Test
    void shouldRefuseMemoryOfAnotherSizeThanTheOutputAndGiveItBack() throws Exception {
        open(executions -> {
            Lent memory = new Lent(arena.allocate(12));
            lent.add(memory);
            Execution first = executions.getFirst();
            assertThatThrownBy(() -> first.lendOutput(0, Datatype.FP32, Shape.of(1, 4), memory.bytes, memory))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessage("the backend gives 12 bytes for output 'OUT' of model 'm', which are not those of FP32"
                            + " [1,4]");
            assertThat(memory.closed).hasValue(1);
            ScriptedBackend.copy(first);
        });
        assertThat(answer(together(request(1, 2)).getFirst())).containsExactly(1, 2);
    }

    private InferenceRequest step(long sequence, float... values) {
        InferenceRequest request = request(values);
        request.correlationId(sequence);
        request.sequenceStart(true);
        request.sequenceEnd(true);
        return request;
    }

    @Test
    void shouldGiveStepsOfSequencesTogetherInTheSameTensors() throws Exception {
        List<Shape> shapes = new CopyOnWriteArrayList<>();
        open(
                MODEL.replace("dynamic_batching { }", "sequence_batching { oldest { max_candidate_sequences: 8 } }"),
                executions -> executions.forEach(execution -> {
                    assertThat(execution.requests()).hasSize(2);
                    shapes.add(execution.input(0).spec().shape());
                    Lent memory = new Lent(arena.allocateFrom(ValueLayout.JAVA_FLOAT, floats(execution.input(0))));
                    lent.add(memory);
                    execution.lendOutput(0, Datatype.FP32, Shape.of(2, 2), memory.bytes, memory);
                    assertThat(memory.closed).as("it is copied by now").hasValue(1);
                }));
        List<Future<InferenceResponse>> responses = behind(step(1, 0, 0), step(2, 1, 2), step(3, 3, 4));
        assertThat(answer(responses.get(0))).containsExactly(1, 2);
        assertThat(answer(responses.get(1))).containsExactly(3, 4);
        assertThat(shapes).containsExactly(Shape.of(2, 2));
    }

    @Test
    void shouldCopyMemoryThatIsLentToTheClientsRegion() throws Exception {
        MemorySegment window = arena.allocate(8);
        open(executions -> executions.forEach(execution -> {
            Lent memory = lend(execution, floats(execution.input(0)));
            assertThat(memory.closed).as("the run may still fail").hasValue(0);
            assertThat(window.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(0);
        }));
        FakeRegions.Lease lease = new FakeRegions.Lease(window);
        InferenceRequest request = request(7, 8);
        request.addOutput(new RequestedOutput("OUT", Optional.of(lease), 0));
        request.hold(lease);
        try (InferenceResponse response = together(request).getFirst().get(30, TimeUnit.SECONDS)) {
            assertThat(response.outputs().getFirst().inSharedMemory()).isTrue();
            assertThat(window.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(7, 8);
        }
        assertThat(lent).isNotEmpty().allSatisfy(memory -> assertThat(memory.closed)
                .hasValue(1));
        assertThat(lease.closed).isEqualTo(1);
    }
}
