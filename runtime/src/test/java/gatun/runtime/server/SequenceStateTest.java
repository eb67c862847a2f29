// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelStatus;
import gatun.runtime.RequestedOutput;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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

/** Models that give a state for one step of a sequence and get it for the next. */
@Timeout(60)
class SequenceStateTest {
    private static final String IDLE = "max_sequence_idle_microseconds: 60000000\n";

    private static final String SUM = """
            state [ {
              input_name: "SUM_IN" output_name: "SUM_OUT" data_type: TYPE_FP32 dims: [ 1 ]
              initial_state { data_type: TYPE_FP32 dims: [ 1 ] zero_data: true name: "zero" }
            } ]
            """;

    private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Integer> batchSizes = new CopyOnWriteArrayList<>();
    private CountDownLatch gate = new CountDownLatch(0);
    private volatile boolean failing;
    private TestServer test;
    private Path folder;

    @BeforeEach
    void prepare(@TempDir Path newFolder) {
        folder = newFolder;
        test = new TestServer(newFolder);
    }

    @AfterEach
    void close() {
        gate.countDown();
        clients.close();
        test.close();
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
    }

    private static String config(int maxBatchSize, String sequenceBatching, String outputs) {
        return "backend: \"scripted\" max_batch_size: " + maxBatchSize + " sequence_batching { " + IDLE
                + sequenceBatching + "}\n input [ { name: \"IN\" data_type: TYPE_FP32 dims: [ 1 ] } ]\n output [ "
                + outputs
                + " ]\n instance_group [ { count: 1 } ]";
    }

    private static String output(String name) {
        return "{ name: \"" + name + "\" data_type: TYPE_FP32 dims: [ 1 ] }";
    }

    private void open(int maxBatchSize, String sequenceBatching, Consumer<Execution> script) {
        test.model("m", config(maxBatchSize, sequenceBatching, output("OUT"))).open(script);
    }

    /** OUT and SUM_OUT are SUM_IN + IN, row by row. */
    private void add(Execution execution) {
        Tensor in = execution.input(0);
        Tensor sum = input(execution, "SUM_IN");
        int rows = (int) in.spec().shape().elementCount();
        batchSizes.add(rows);
        assertThat(sum.spec().shape()).isEqualTo(in.spec().shape());
        Await.opened(gate);
        float[] sums = new float[rows];
        for (int i = 0; i < rows; i++) {
            sums[i] =
                    sum.bytes().getAtIndex(ElementLayouts.FP32, i) + in.bytes().getAtIndex(ElementLayouts.FP32, i);
        }
        for (int i = 0; i < execution.outputCount(); i++) {
            MemorySegment target = execution.output(i, Datatype.FP32, in.spec().shape(), (long) rows * Float.BYTES);
            target.copyFrom(MemorySegment.ofArray(sums));
        }
        if (failing) {
            throw new GatunException(ErrorCode.INTERNAL, "the engine failed");
        }
    }

    private static Tensor input(Execution execution, String name) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i);
            }
        }
        throw new AssertionError("no input " + name);
    }

    private InferenceRequest step(long id, float value, String flags) {
        InferenceRequest request = test.request("m");
        request.correlationId(id);
        request.sequenceStart(flags.contains("start"));
        request.sequenceEnd(flags.contains("end"));
        boolean batching = request.model().config().getMaxBatchSize() > 0;
        test.input(request, "IN", batching ? new long[] {1, 1} : new long[] {1});
        request.inputs().getFirst().bytes().setAtIndex(ElementLayouts.FP32, 0, value);
        return request;
    }

    private float answer(InferenceRequest request) {
        return answers(request).getFirst();
    }

    private List<Float> answers(InferenceRequest request) {
        try (request;
                InferenceResponse response = test.server().infer(request)) {
            return response.outputs().stream()
                    .map(output -> output.tensor().bytes().getAtIndex(ElementLayouts.FP32, 0))
                    .toList();
        }
    }

    @Test
    void shouldGiveEachStepWhatTheStepBeforeLeft() {
        open(4, SUM, this::add);

        assertThat(answer(step(1, 1, "start"))).isEqualTo(1);
        assertThat(answer(step(1, 2, ""))).isEqualTo(3);
        assertThat(answer(step(2, 100, "start"))).isEqualTo(100);
        assertThat(answer(step(1, 3, ""))).isEqualTo(6);
        assertThat(answer(step(2, 1, ""))).isEqualTo(101);
        assertThat(answer(step(2, 1, "end"))).isEqualTo(102);
        assertThat(answer(step(1, 4, "end"))).isEqualTo(10);
        assertThat(test.pool.usedBytes()).as("kept for sequences that ended").isZero();
    }

    @Test
    void shouldKeepStatesInAModelWithoutABatchDimension() {
        open(0, SUM, this::add);

        assertThat(answer(step(1, 1, "start"))).isEqualTo(1);
        assertThat(answer(step(1, 2, ""))).isEqualTo(3);
        assertThat(test.pool.usedBytes()).isPositive();
        assertThat(answer(step(1, 3, "end"))).isEqualTo(6);
        assertThat(test.pool.usedBytes()).isZero();
    }

    @Test
    void shouldGatherTheStatesOfSequencesThatRunTogether() throws Exception {
        open(4, SUM, this::add);
        for (int id = 1; id <= 3; id++) {
            answer(step(id, 10 * id, "start"));
        }
        batchSizes.clear();
        gate = new CountDownLatch(1);
        Future<Float> first = clients.submit(() -> answer(step(2, 1, "")));
        awaitPendingAndRuns(0, 1);
        Future<Float> second = clients.submit(() -> answer(step(1, 2, "")));
        awaitPendingAndRuns(1, 1);
        Future<Float> third = clients.submit(() -> answer(step(3, 3, "")));
        awaitPendingAndRuns(2, 1);
        gate.countDown();

        assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(21);
        assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(12);
        assertThat(third.get(30, TimeUnit.SECONDS)).isEqualTo(33);
        assertThat(batchSizes).as("rows, of which some are gaps").containsExactly(2, 3);
        assertThat(answer(step(1, 1, "end"))).isEqualTo(13);
        assertThat(answer(step(2, 1, "end"))).isEqualTo(22);
        assertThat(answer(step(3, 1, "end"))).isEqualTo(34);
    }

    private void awaitPendingAndRuns(long pending, int runs) {
        Await.until(
                pending + " in the queue",
                () -> test.server().statistics().getFirst().totals().pendingRequestCount() == pending
                        && runs() >= runs);
    }

    private int runs() {
        return batchSizes.size();
    }

    @Test
    void shouldResetTheStateWhenASequenceIsStartedAgain() {
        open(4, SUM, this::add);

        assertThat(answer(step(1, 5, "start"))).isEqualTo(5);
        assertThat(answer(step(1, 6, "start"))).isEqualTo(6);
        assertThat(answer(step(1, 1, ""))).isEqualTo(7);
    }

    @Test
    void shouldGoOnFromTheLastStepThatSucceeded() {
        open(4, SUM, this::add);
        answer(step(1, 5, "start"));

        failing = true;
        assertThatThrownBy(() -> answer(step(1, 100, ""))).hasMessage("the engine failed");
        failing = false;

        assertThat(answer(step(1, 1, "end"))).isEqualTo(6);
    }

    @Test
    void shouldNotTakeAStepWhoseAnswerFails() {
        open(4, SUM, execution -> {
            if (!failing) {
                add(execution);
                return;
            }
            // The state, and no other output.
            int last = execution.outputCount() - 1;
            execution.output(last, Datatype.FP32, Shape.of(1, 1), Float.BYTES).set(ElementLayouts.FP32, 0, 777);
        });
        answer(step(1, 5, "start"));

        failing = true;
        assertThatThrownBy(() -> answer(step(1, 100, ""))).hasMessageContaining("gave no output");
        failing = false;

        assertThat(answer(step(1, 100, ""))).as("the same step again").isEqualTo(105);
    }

    @Test
    void shouldNotInviteToRepeatAStepThatMayHaveBeenTaken() {
        open(4, SUM, execution -> {
            if (failing) {
                execution.inferStarted();
                throw new GatunException(ErrorCode.UNAVAILABLE, "the engine is busy");
            }
            add(execution);
        });
        answer(step(1, 5, "start"));

        failing = true;
        assertThatThrownBy(() -> answer(step(1, 100, "")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessageStartingWith("the engine is busy; this step of its sequence may have been applied");
    }

    private List<Buffer> exhaustPool() {
        List<Buffer> taken = new ArrayList<>();
        for (int byteSize = 32 << 20; byteSize >= 256; byteSize /= 2) {
            try {
                while (true) {
                    taken.add(test.pool.take(byteSize));
                }
            } catch (GatunException full) {
                assertThat(full.code()).isEqualTo(ErrorCode.UNAVAILABLE);
            }
        }
        return taken;
    }

    @Test
    void shouldInviteToRepeatAStepForWhichThereWasNoMemory() {
        open(4, SUM, execution -> {
            if (failing) {
                List<Buffer> all = exhaustPool();
                try {
                    add(execution);
                } finally {
                    all.forEach(Buffer::close);
                }
            } else {
                add(execution);
            }
        });
        answer(step(1, 5, "start"));

        failing = true;
        assertThatThrownBy(() -> answer(step(1, 100, "")))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
        failing = false;
        assertThat(answer(step(1, 100, ""))).isEqualTo(105);
    }

    @Test
    void shouldWriteTheStateWhereItWasReadWhenAskedTo() {
        List<Boolean> same = new ArrayList<>();
        open(4, SUM.replace("dims: [ 1 ]\n", "dims: [ 1 ] use_same_buffer_for_input_output: true\n"), execution -> {
            Tensor sum = input(execution, "SUM_IN");
            int last = execution.outputCount() - 1;
            MemorySegment target = execution.output(
                    last, Datatype.FP32, sum.spec().shape(), sum.bytes().byteSize());
            same.add(target.address() == sum.bytes().address());
            add(execution);
        });

        answer(step(1, 1, "start"));
        assertThat(answer(step(1, 2, ""))).isEqualTo(3);
        assertThat(answer(step(2, 10, "start"))).isEqualTo(10);
        assertThat(answer(step(2, 10, "end"))).isEqualTo(20);
        assertThat(answer(step(1, 3, "end"))).isEqualTo(6);
        assertThat(same).hasSize(5).doesNotContain(false);
    }

    @Test
    void shouldShowTheStateToThoseWhoWantIt() {
        test.model("m", config(4, SUM, output("SUM_OUT") + ", " + output("OUT")))
                .open(this::add);

        assertThat(answers(step(1, 1, "start"))).containsExactly(1f, 1f);
        assertThat(answers(step(1, 2, ""))).containsExactly(3f, 3f);
        InferenceRequest onlyOut = step(1, 3, "end");
        onlyOut.addOutput(RequestedOutput.of("OUT"));
        assertThat(answers(onlyOut)).containsExactly(6f);
    }

    @Test
    void shouldBeginWithTheStateInAFile() throws IOException {
        Files.createDirectories(folder.resolve("m/initial_state"));
        byte[] begin = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(1000)
                .array();
        Files.write(folder.resolve("m/initial_state/begin"), begin);
        open(4, SUM.replace("zero_data: true", "data_file: \"begin\""), this::add);

        assertThat(answer(step(1, 1, "start"))).isEqualTo(1001);
        assertThat(answer(step(1, 1, "start"))).isEqualTo(1001);
    }

    @Test
    void shouldNotLoadAModelWhoseInitialStateIsWrong() throws IOException {
        Files.createDirectories(folder.resolve("m/initial_state"));
        Files.write(folder.resolve("m/initial_state/short"), new byte[3]);
        test.model("m", config(4, SUM.replace("zero_data: true", "data_file: \"short\""), output("OUT")))
                .model("n", config(4, SUM.replace("zero_data: true", "data_file: \"../config.pbtxt\""), output("OUT")))
                .model("o", config(4, SUM.replace("dims: [ 1 ] zero", "dims: [ 2 ] zero"), output("OUT")))
                .open(this::add);

        assertThat(test.server().index())
                .extracting(ModelStatus::reason)
                .containsExactly(
                        "initial state of 'SUM_IN' has a data_file of 3 bytes, expected 4",
                        "initial state of 'SUM_IN' reads '../config.pbtxt', which leads out of the model's folder"
                                + " initial_state",
                        "initial state of 'SUM_IN' has dims [2], expected fixed ones that suit those of the state,"
                                + " [1]");
    }

    @Test
    void shouldKeepStatesOfAnySizeAndStrings() {
        String state = """
                state [ {
                  input_name: "TEXTS_IN" output_name: "TEXTS_OUT" data_type: TYPE_STRING dims: [ -1 ]
                } ]
                """;
        List<List<String>> seen = new ArrayList<>();
        open(4, state, execution -> {
            Tensor texts = input(execution, "TEXTS_IN");
            List<String> next = new ArrayList<>();
            BytesCodec.forEach(texts.bytes(), (at, byteSize) -> next.add(BytesCodec.text(texts.bytes(), at, byteSize)));
            seen.add(List.copyOf(next));
            next.add("step " + execution.input(0).bytes().getAtIndex(ElementLayouts.FP32, 0));
            BytesCodec.encodeText(
                    next,
                    execution.output(
                            1, Datatype.BYTES, Shape.of(1, next.size()), BytesCodec.encodedTextByteSize(next)));
            execution.output(0, Datatype.FP32, Shape.of(1, 1), Float.BYTES).fill((byte) 0);
        });

        answer(step(1, 1, "start"));
        answer(step(1, 2, ""));
        answer(step(1, 3, "end"));

        assertThat(seen).containsExactly(List.of(""), List.of("", "step 1.0"), List.of("", "step 1.0", "step 2.0"));
    }

    @Test
    void shouldNotRunSequencesTogetherWhoseStatesDifferInShape() {
        String state = """
                state [ { input_name: "LIST_IN" output_name: "LIST_OUT" data_type: TYPE_INT32 dims: [ -1 ] } ]
                """;
        List<Shape> shapes = new ArrayList<>();
        open(4, "oldest { max_queue_delay_microseconds: 1 }" + state, execution -> {
            Await.opened(gate);
            Tensor list = input(execution, "LIST_IN");
            shapes.add(list.spec().shape());
            int rows = (int) list.spec().shape().dim(0);
            Shape longer = Shape.of(rows, list.spec().shape().dim(1) + 1);
            execution
                    .output(1, Datatype.INT32, longer, longer.byteSize(Datatype.INT32))
                    .fill((byte) 0);
            execution
                    .output(0, Datatype.FP32, Shape.of(rows, 1), (long) rows * Float.BYTES)
                    .fill((byte) 0);
        });
        answer(step(1, 1, "start"));
        answer(step(1, 1, ""));
        answer(step(2, 1, "start"));
        shapes.clear();
        gate = new CountDownLatch(1);
        Future<Float> blocker = clients.submit(() -> answer(step(3, 1, "start")));
        awaitPendingAndRuns(0, 0);
        Future<Float> longList = clients.submit(() -> answer(step(1, 1, "end")));
        Future<Float> shortList = clients.submit(() -> answer(step(2, 1, "end")));
        gate.countDown();

        assertThat(List.of(blocker, longList, shortList))
                .allSatisfy(step -> assertThat(step.get(30, TimeUnit.SECONDS)).isZero());
        assertThat(shapes).contains(Shape.of(1, 3), Shape.of(1, 2));
    }

    @Test
    void shouldFailAStepWhoseStateTheModelDoesNotGive() {
        open(4, SUM, execution -> execution
                .output(0, Datatype.FP32, Shape.of(1, 1), Float.BYTES)
                .fill((byte) 0));

        assertThatThrownBy(() -> answer(step(1, 1, "start")))
                .hasMessage("the backend gave no state 'SUM_OUT' of model 'm'");
    }

    @Test
    void shouldGiveStatesBackWhenTheSequenceIdles() {
        test.model("m", config(4, SUM, output("OUT")).replace("idle_microseconds: 60000000", "idle_microseconds: 1000"))
                .open(this::add);
        answer(step(1, 1, "start"));

        Await.until("the state to be given back", () -> test.pool.usedBytes() <= 0);
        assertThatThrownBy(() -> answer(step(1, 1, ""))).hasMessageContaining("must specify the START flag");
    }
}
