// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.server.ScriptedBackend;
import gatun.runtime.server.TestServer;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.spi.Execution;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests that share runs of models whose configuration does not say so, by the operator's rule. */
@Timeout(60)
class BatchingRuleTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
            instance_group { count: 1 }
            """;

    private static final BatchingRule PLAIN = new BatchingRule(8, 8, 0, 10, 1, List.of(), false);

    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(1);
    private final BlockingQueue<String> runs = new LinkedBlockingQueue<>();
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

    private void open(String model, BatchingRule rule) {
        test.model("m", model).open(this::copy, options -> options.batching(version -> Optional.of(rule)));
    }

    /** Copies inputs to outputs; a run of the number 99 waits for the gate. */
    private void copy(Execution execution) {
        Tensor input = execution.input(0);
        runs.add(text(input));
        if (input.spec().datatype() == Datatype.FP32
                && input.bytes().byteSize() > 0
                && input.bytes().get(ValueLayout.JAVA_FLOAT, 0) == 99) {
            busy.countDown();
            Await.opened(gate);
        }
        ScriptedBackend.copy(execution);
    }

    private static String text(Tensor tensor) {
        List<String> values = new ArrayList<>();
        if (tensor.spec().datatype() == Datatype.FP32) {
            for (float value : tensor.bytes().toArray(ValueLayout.JAVA_FLOAT)) {
                values.add(Integer.toString((int) value));
            }
        } else {
            for (long at = 0; at < tensor.bytes().byteSize(); ) {
                long length = BytesCodec.elementByteSize(tensor.bytes(), at);
                byte[] bytes = tensor.bytes()
                        .asSlice(at + BytesCodec.LENGTH_BYTES, length)
                        .toArray(ValueLayout.JAVA_BYTE);
                values.add(new String(bytes, StandardCharsets.UTF_8));
                at += BytesCodec.LENGTH_BYTES + length;
            }
        }
        return tensor.spec().shape() + " " + String.join(" ", values);
    }

    private InferenceRequest floats(Shape shape, float... values) {
        InferenceRequest request = test.request("m");
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, shape), bytes));
        return request;
    }

    private String answer(InferenceRequest request) {
        try (InferenceResponse response = test.server().infer(request)) {
            return text(response.outputs().getFirst().tensor());
        }
    }

    /** The responses to requests that wait behind a run until all are there. */
    private List<String> together(InferenceRequest... requests) throws Exception {
        Future<String> blocker = clients.submit(() -> answer(floats(Shape.of(1, 1), 99)));
        Await.opened(busy);
        List<Future<String>> responses = waiting(requests);
        gate.countDown();
        assertThat(blocker.get(30, TimeUnit.SECONDS)).startsWith("[1,1] 99");
        List<String> texts = new ArrayList<>();
        for (Future<String> answer : responses) {
            texts.add(answer.get(30, TimeUnit.SECONDS));
        }
        return texts;
    }

    private List<Future<String>> waiting(InferenceRequest... requests) {
        List<Future<String>> responses = new ArrayList<>();
        for (InferenceRequest request : requests) {
            long before = pending();
            responses.add(clients.submit(() -> answer(request)));
            Await.until("a request that does not wait", () -> pending() != before);
        }
        return responses;
    }

    private long pending() {
        return test.server().statistics().getFirst().totals().pendingRequestCount();
    }

    @Test
    void shouldJoinRequestsOfAModelWithoutABatchDimension() throws Exception {
        open(MODEL, PLAIN);
        assertThat(together(
                        floats(Shape.of(1, 2), 1, 2),
                        floats(Shape.of(2, 2), 3, 4, 5, 6),
                        floats(Shape.of(1, 1), 7),
                        floats(Shape.of(0, 1))))
                .containsExactly("[1,2] 1 2", "[2,2] 3 4 5 6", "[1,1] 7", "[0,1] ");
        assertThat(runs).containsExactly("[1,1] 99", "[3,2] 1 2 3 4 5 6", "[1,1] 7", "[0,1] ");
    }

    @Test
    void shouldRunEachAloneWithoutARule() throws Exception {
        test.model("m", MODEL).open(this::copy);
        assertThat(together(floats(Shape.of(1, 1), 1), floats(Shape.of(1, 1), 2)))
                .containsExactly("[1,1] 1", "[1,1] 2");
        assertThat(runs).containsExactly("[1,1] 99", "[1,1] 1", "[1,1] 2");
    }

    @Test
    void shouldLeaveAModelAloneThatSaysHowToBatch() {
        open(
                MODEL.replace("dims: [ -1, -1 ]", "dims: [ -1 ]") + "max_batch_size: 4 dynamic_batching { }",
                new BatchingRule(2, 2, 0, 1, 1, List.of(2), false));
        assertThat(answer(floats(Shape.of(3, 1), 1, 2, 3))).isEqualTo("[3,1] 1 2 3");
        assertThat(runs).containsExactly("[3,1] 1 2 3");
    }

    @Test
    void shouldWriteTheRuleIntoAConfigurationWithABatchDimension() {
        open(
                MODEL.replace("dims: [ -1, -1 ]", "dims: [ -1 ]").replace("instance_group { count: 1 }", "")
                        + "max_batch_size: 4",
                new BatchingRule(16, 2, 5_000, 1, 3, List.of(), false));
        ModelConfig config = test.server().model("m", "").config();
        assertThat(config.getMaxBatchSize()).isEqualTo(4);
        assertThat(config.getDynamicBatching().getPreferredBatchSizeList()).containsExactly(2);
        assertThat(config.getDynamicBatching().getMaxQueueDelayMicroseconds()).isEqualTo(5);
        assertThat(config.getInstanceGroup(0).getCount()).isEqualTo(3);
        assertThatThrownBy(() -> answer(floats(Shape.of(5, 1), 1, 2, 3, 4, 5)))
                .hasMessage("Task size 5 is larger than maximum input batch size 4");
    }

    @Test
    void shouldPadARunWithTheFirstRowOfItsLastRequest() throws Exception {
        open(MODEL, new BatchingRule(8, 8, 0, 10, 1, List.of(2, 4, 8), false));
        assertThat(together(floats(Shape.of(2, 1), 1, 2), floats(Shape.of(3, 1), 3, 4, 5)))
                .containsExactly("[2,1] 1 2", "[3,1] 3 4 5");
        assertThat(answer(floats(Shape.of(3, 2), 1, 2, 3, 4, 5, 6))).isEqualTo("[3,2] 1 2 3 4 5 6");
        assertThat(answer(floats(Shape.of(4, 1), 1, 2, 3, 4))).isEqualTo("[4,1] 1 2 3 4");
        assertThat(runs)
                .containsExactly("[2,1] 99 99", "[8,1] 1 2 3 4 5 3 3 3", "[4,2] 1 2 3 4 5 6 1 2", "[4,1] 1 2 3 4");
    }

    @Test
    void shouldPadStrings() {
        open(MODEL.replace("TYPE_FP32", "TYPE_STRING"), new BatchingRule(4, 4, 0, 10, 1, List.of(4), false));
        InferenceRequest request = test.request("m");
        byte[] bytes = {2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 'c', 0, 0, 0, 0, 1, 0, 0, 0, 'd'};
        request.addInput(new Tensor(
                new TensorSpec("IN", Datatype.BYTES, Shape.of(2, 2)),
                arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes)));
        assertThat(answer(request)).isEqualTo("[2,2] ab c  d");
        assertThat(runs).containsExactly("[4,2] ab c  d ab c ab c");
    }

    @Test
    void shouldFillUpShapesThatDiffer() throws Exception {
        open(MODEL, new BatchingRule(8, 8, 0, 10, 1, List.of(4, 8), true));
        assertThat(together(floats(Shape.of(2, 1), 1, 2), floats(Shape.of(1, 3), 3, 4, 5)))
                .containsExactly("[2,3] 1 0 0 2 0 0", "[1,3] 3 4 5");
        assertThat(runs).containsExactly("[4,1] 99 99 99 99", "[4,3] 1 0 0 2 0 0 3 4 5 3 4 5");
    }

    @Test
    void shouldSplitARequestThatIsTooLargeForOneRun() {
        open(MODEL, new BatchingRule(8, 3, 0, 10, 1, List.of(), false));
        assertThat(answer(floats(Shape.of(7, 1), 1, 2, 3, 4, 5, 6, 7))).isEqualTo("[7,1] 1 2 3 4 5 6 7");
        assertThat(runs).containsExactly("[3,1] 1 2 3", "[3,1] 4 5 6", "[1,1] 7");
        assertThatThrownBy(() -> answer(floats(Shape.of(9, 1), 1, 2, 3, 4, 5, 6, 7, 8, 9)))
                .isInstanceOf(GatunException.class)
                .hasMessage("Task size 9 is larger than maximum input batch size 8");
    }

    @Test
    void shouldFailAsAWholeWhenAPieceFails() {
        test.model("m", MODEL)
                .open(
                        execution -> {
                            if (execution.input(0).bytes().get(ValueLayout.JAVA_FLOAT, 0) == 3) {
                                throw GatunException.invalidArgument("three");
                            }
                            ScriptedBackend.copy(execution);
                        },
                        options -> options.batching(
                                version -> Optional.of(new BatchingRule(8, 1, 0, 10, 1, List.of(), false))));
        assertThatThrownBy(() -> answer(floats(Shape.of(4, 1), 1, 2, 3, 4))).hasMessage("three");
        assertThat(answer(floats(Shape.of(2, 1), 1, 2))).isEqualTo("[2,1] 1 2");
    }

    @Test
    void shouldRefuseWhatHasNoRoomInTheQueue() throws Exception {
        open(MODEL, new BatchingRule(4, 2, 0, 2, 1, List.of(), false));
        Future<String> blocker = clients.submit(() -> answer(floats(Shape.of(1, 1), 99)));
        Await.opened(busy);
        List<Future<String>> responses = waiting(floats(Shape.of(2, 1), 1, 2), floats(Shape.of(1, 1), 3));
        String full =
                "The batch scheduling queue to which this task was submitted is full; currently 2 batches enqueued"
                        + " and max_enqueued_batches is 2";
        assertThatThrownBy(() -> answer(floats(Shape.of(2, 1), 4, 5))).hasMessage(full);
        assertThatThrownBy(() -> answer(floats(Shape.of(3, 1), 4, 5, 6))).hasMessage(full);
        gate.countDown();
        assertThat(blocker.get(30, TimeUnit.SECONDS)).isEqualTo("[1,1] 99");
        assertThat(responses.get(0).get(30, TimeUnit.SECONDS)).isEqualTo("[2,1] 1 2");
        assertThat(responses.get(1).get(30, TimeUnit.SECONDS)).isEqualTo("[1,1] 3");
        assertThat(answer(floats(Shape.of(3, 1), 4, 5, 6))).isEqualTo("[3,1] 4 5 6");
    }

    @Test
    void shouldJoinRequestsThatTheEngineJudges() throws Exception {
        EntryTensor in = new EntryTensor(new TensorSpec("x", Datatype.FP32, Shape.of(Shape.VARIABLE, 1)), false, "x:0");
        EntryTensor out = new EntryTensor(new TensorSpec("y", Datatype.FP32, Shape.of()), true, "y:0");
        test.model("m", MODEL).open(this::copy, options -> {
            test.backend.entryPoints = List.of(
                    new EntryPoint("main", "predict", List.of(in), List.of(out)),
                    new EntryPoint("other", "predict", List.of(in), List.of(out)));
            return options.batching(version -> Optional.of(PLAIN));
        });
        assertThat(together(named("other", 1, 2), named("other", 3), named("main", 4)))
                .containsExactly("[2] 1 2", "[1] 3", "[1] 4");
        assertThat(runs).containsExactly("[1,1] 99", "[3] 1 2 3", "[1] 4");
    }

    private InferenceRequest named(String entryPoint, float... values) {
        InferenceRequest request = test.request("m");
        request.entryPoint(entryPoint);
        MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
        request.addInput(new Tensor(new TensorSpec("x", Datatype.FP32, Shape.of(values.length)), bytes));
        return request;
    }

    @Test
    void shouldRefuseANonsensicalRule() {
        assertThatThrownBy(() -> new BatchingRule(2, 4, 0, 1, 1, List.of(), false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2, 4, 1, 1");
    }
}
