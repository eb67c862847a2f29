// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner.ExecutionMode;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.memory.tuning.Tuner;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.testing.OnnxFile;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches whose requests run side by side, more often than all ways of running one are tried. */
class BatchPartsTest {
    private static final Path SIMPLE = Path.of("..", "..", "examples", "models", "simple", "1");
    private static final int RUNS = 5 * ExecutionMode.values().length * new Tuner.Trials(1, 0, 2, 1).runs();

    /** The datatype of the example's tensors, as ONNX counts them. */
    private static final int INT32 = 6;

    private final OnnxRuntimeBackend backend = new OnnxRuntimeBackend();

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        backend.start(Map.of());
    }

    @AfterEach
    void nothingShouldBeLeft() {
        assertThat(LiveHandles.values()).as("live values").isZero();
        assertThat(LiveHandles.sessions()).as("live sessions").isZero();
    }

    private BackendInstance instance(String name, Path version) {
        ModelConfig config = backend.complete(
                ModelConfig.newBuilder()
                        .setName(name)
                        .setMaxBatchSize(8)
                        .setDynamicBatching(ModelDynamicBatching.getDefaultInstance())
                        .build(),
                version);
        BackendModel model = backend.load(config, version);
        return model.newInstance(LearningTuning.instance(name + "_0"));
    }

    private static int[] rising(int from, int count) {
        return IntStream.range(from, from + count).toArray();
    }

    @Test
    void shouldAnswerEachRowHoweverABatchIsRun() {
        try (BackendInstance instance = instance("simple", SIMPLE)) {
            for (int run = 0; run < RUNS; run++) {
                int rows = 1 + run % 8;
                int count = rows * 16;
                RecordedExecution execution = new RecordedExecution("OUTPUT0", "OUTPUT1")
                        .forRows(IntStream.generate(() -> 1).limit(rows).toArray())
                        .ints("INPUT0", Shape.of(rows, 16), rising(run, count))
                        .ints("INPUT1", Shape.of(rows, 16), rising(0, count));
                instance.execute(execution);
                int first = run;
                assertThat(execution.ints("OUTPUT0"))
                        .containsExactly(IntStream.range(0, count)
                                .map(i -> first + 2 * i)
                                .toArray());
                assertThat(execution.ints("OUTPUT1"))
                        .containsExactly(
                                IntStream.generate(() -> first).limit(count).toArray());
            }
        }
    }

    /** Each column is divided by a sum over all rows, as a quantised tensor is by its greatest value. */
    @Test
    void shouldGiveOneRequestTheSameAnswerHoweverItIsRun() {
        List<String> dims = List.of("rows", "3");
        OnnxFile.write(
                folder,
                "Softmax",
                List.of(new OnnxFile.Value("IN", OnnxFile.FLOAT, dims)),
                List.of(new OnnxFile.Value("OUT", OnnxFile.FLOAT, dims)),
                "axis",
                0);
        try (BackendInstance instance = instance("softmax", folder)) {
            Set<List<Integer>> answers = new HashSet<>();
            for (int run = 0; run < RUNS; run++) {
                RecordedExecution execution = new RecordedExecution("OUT")
                        .forRows(4)
                        .input(floats("IN", Shape.of(4, 3), 1, 2, 3, 3, 2, 1, 5, 6, 4, 0, 0, 1));
                instance.execute(execution);
                answers.add(Arrays.stream(execution.ints("OUT")).boxed().toList());
            }
            assertThat(answers).hasSize(1);
        }
    }

    private static Tensor floats(String name, Shape shape, float... values) {
        return new Tensor(
                new TensorSpec(name, Datatype.FP32, shape),
                Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, values));
    }

    /** The columns of one matrix are the rows of the other: half of either cannot be multiplied. */
    @Test
    void shouldRunABatchWholeWhoseRowsNeedOneAnother() {
        OnnxFile.write(
                folder,
                "MatMul",
                List.of(
                        new OnnxFile.Value("LEFT", INT32, "rows", "inner"),
                        new OnnxFile.Value("RIGHT", INT32, "others", "columns")),
                List.of(new OnnxFile.Value("PRODUCT", INT32, "rows", "columns")),
                "",
                0);
        try (BackendInstance instance = instance("product", folder)) {
            for (int run = 0; run < RUNS; run++) {
                RecordedExecution execution = new RecordedExecution("PRODUCT")
                        .forRows(1, 1)
                        .ints("LEFT", Shape.of(2, 2), run, 1, 0, 1)
                        .ints("RIGHT", Shape.of(2, 2), 1, 2, 3, 4);
                instance.execute(execution);
                assertThat(execution.ints("PRODUCT")).containsExactly(run + 3, 2 * run + 4, 3, 4);
            }
        }
    }

    @Test
    void shouldFailAsAWholeBatchDoes() {
        try (BackendInstance instance = instance("simple", SIMPLE)) {
            for (int run = 0; run < RUNS; run++) {
                RecordedExecution wrong = new RecordedExecution("OUTPUT0")
                        .forRows(1, 3)
                        .ints("INPUT0", Shape.of(4, 16), rising(0, 64))
                        .ints("INPUT1", Shape.of(4, 15), rising(0, 60));
                assertThatExceptionOfType(GatunException.class)
                        .isThrownBy(() -> instance.execute(wrong))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));

                RecordedExecution right = new RecordedExecution("OUTPUT0")
                        .forRows(1, 3)
                        .ints("INPUT0", Shape.of(4, 16), rising(0, 64))
                        .ints("INPUT1", Shape.of(4, 16), rising(0, 64));
                instance.execute(right);
                assertThat(right.ints("OUTPUT0")).startsWith(0, 2, 4);
            }
        }
    }
}
