// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.ModelVersion;
import gatun.spi.Execution;
import gatun.testing.Await;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models whose files leave the first dimension open, and whose configuration says nothing of batching. */
@Timeout(60)
class BatchingTrialTest {
    private static final String UNSAID = "backend: \"scripted\" instance_group [ { count: 2 } ]";

    private final List<Shape> shapes = new CopyOnWriteArrayList<>();
    private TestServer test;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
    }

    private ModelVersion open(DataType in, DataType out, Consumer<Execution> script) {
        return open(UNSAID, in, out, script);
    }

    /** Serves a model as an engine completes it: tensors of one open dimension, batches of 4, and dynamic batching. */
    private ModelVersion open(String written, DataType in, DataType out, Consumer<Execution> script) {
        test.model("m", written)
                .open(
                        execution -> {
                            shapes.add(execution.inputSpec(0).shape());
                            script.accept(execution);
                        },
                        options -> {
                            test.backend.completion = (config, files) -> complete(config, in, out);
                            return options;
                        });
        return test.server().model("m", "");
    }

    private static ModelConfig complete(ModelConfig config, DataType in, DataType out) {
        ModelConfig.Builder completed = config.toBuilder().setMaxBatchSize(4);
        completed.addInputBuilder().setName("IN").setDataType(in).addDims(-1);
        completed.addOutputBuilder().setName("OUT").setDataType(out).addDims(-1);
        if (config.getSchedulingChoiceCase() == ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
            completed.setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
        }
        return completed.build();
    }

    private static float[] floats(Tensor tensor) {
        return tensor.bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    private static void answer(Execution execution, float[] values) {
        execution
                .output(0, Datatype.FP32, execution.inputSpec(0).shape(), (long) values.length * Float.BYTES)
                .copyFrom(MemorySegment.ofArray(values));
    }

    /** Each element by itself. */
    private static Consumer<Execution> elementwise(DoubleUnaryOperator function) {
        return execution -> {
            float[] values = floats(execution.input(0));
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) function.applyAsDouble(values[i]);
            }
            answer(execution, values);
        };
    }

    private void shouldBatch(ModelVersion model) {
        assertThat(model.unbatched()).isEmpty();
        assertThat(model.config().hasDynamicBatching()).isTrue();
    }

    private void shouldNotBatch(ModelVersion model, String reason) {
        assertThat(model.unbatched()).get().asString().contains(reason);
        assertThat(model.choices()).contains(model.unbatched().orElseThrow());
        assertThat(model.config().hasDynamicBatching()).isFalse();
        assertThat(model.config().getMaxBatchSize())
                .as("requests may still have several rows")
                .isEqualTo(4);
    }

    @Test
    void shouldBatchWhereRowsAreIndependent() {
        shouldBatch(open(DataType.TYPE_FP32, DataType.TYPE_FP32, elementwise(Math::tanh)));
        assertThat(shapes).contains(Shape.of(1, 8), Shape.of(3, 8), Shape.of(2, 8));
        assertThat(test.server().statistics().getFirst().executionCount())
                .as("nobody has asked for these")
                .isZero();
    }

    @Test
    void shouldNotBatchWhereARowDependsOnTheGreatestValueOfAll() {
        // As a spectrogram that clips far below the loudest tone: rows must differ by much for that to show.
        Consumer<Execution> clipping = execution -> {
            float[] powers = floats(execution.input(0));
            float most = Float.NEGATIVE_INFINITY;
            for (int i = 0; i < powers.length; i++) {
                powers[i] = (float) Math.log10(Math.max(powers[i] * powers[i], 1e-10));
                most = Math.max(most, powers[i]);
            }
            for (int i = 0; i < powers.length; i++) {
                powers[i] = Math.max(powers[i], most - 8);
            }
            answer(execution, powers);
        };
        shouldNotBatch(open(DataType.TYPE_FP32, DataType.TYPE_FP32, clipping), "output 'OUT' differs by");
    }

    @Test
    void shouldNotBatchWhereARowDependsOnItsPlace() {
        shouldNotBatch(
                open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
                    float[] values = floats(execution.input(0));
                    float sum = 0;
                    for (int i = 0; i < values.length; i++) {
                        sum += i % 8 == 0 ? values[i] : 0;
                        values[i] += sum;
                    }
                    answer(execution, values);
                }),
                "output 'OUT' differs by");
    }

    @Test
    void shouldTakeSmallDifferencesForRounding() {
        shouldBatch(open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
            float[] values = floats(execution.input(0));
            long rows = execution.inputSpec(0).shape().dim(0);
            for (int i = 0; i < values.length; i++) {
                values[i] *= 1 + 2e-6f * rows;
            }
            answer(execution, values);
        }));
    }

    @Test
    void shouldNotBatchAtRandom() {
        AtomicInteger calls = new AtomicInteger();
        shouldNotBatch(
                open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
                    int call = calls.incrementAndGet();
                    elementwise(value -> value + call).accept(execution);
                }),
                "rows depend on one another");
    }

    @Test
    void shouldTryPositiveNumbersWhereOthersGiveNone() {
        Consumer<Execution> roots = execution -> {
            float[] values = floats(execution.input(0));
            float sum = 0;
            for (float value : values) {
                sum += (float) Math.sqrt(value);
            }
            float all = sum;
            elementwise(value -> all).accept(execution);
        };
        shouldNotBatch(open(DataType.TYPE_FP32, DataType.TYPE_FP32, roots), "output 'OUT' differs by");
    }

    @Test
    void shouldNotBatchWhatGivesNoNumbers() {
        shouldNotBatch(open(DataType.TYPE_FP32, DataType.TYPE_FP32, elementwise(value -> Double.NaN)), "no numbers");
    }

    @Test
    void shouldTryIndicesThatTheModelTakes() {
        Consumer<Execution> lookup = execution -> {
            int[] indices = execution.input(0).bytes().toArray(ValueLayout.JAVA_INT);
            for (int index : indices) {
                if (index < 0 || index > 1) {
                    throw GatunException.invalidArgument("there is no row " + index);
                }
            }
            execution
                    .output(
                            0,
                            Datatype.INT32,
                            execution.inputSpec(0).shape(),
                            execution.input(0).byteSize())
                    .copyFrom(execution.input(0).bytes());
        };
        shouldBatch(open(DataType.TYPE_INT32, DataType.TYPE_INT32, lookup));
    }

    @Test
    void shouldNotBatchWholeNumbersThatDependOnOthers() {
        Consumer<Execution> greatest = execution -> {
            int[] values = execution.input(0).bytes().toArray(ValueLayout.JAVA_INT);
            int most = IntStream.of(values).max().orElse(0);
            MemorySegment out = execution.output(
                    0,
                    Datatype.INT32,
                    execution.inputSpec(0).shape(),
                    execution.input(0).byteSize());
            for (int i = 0; i < values.length; i++) {
                out.setAtIndex(ElementLayouts.INT32, i, most - values[i]);
            }
        };
        shouldNotBatch(open(DataType.TYPE_INT32, DataType.TYPE_INT32, greatest), "output 'OUT' is another");
    }

    @Test
    void shouldBatchTexts() {
        shouldBatch(open(DataType.TYPE_STRING, DataType.TYPE_STRING, ScriptedBackend::copy));
    }

    @Test
    void shouldNotBatchWhatTakesNoMadeUpValues() {
        shouldNotBatch(
                open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
                    throw GatunException.invalidArgument("there is no such thing");
                }),
                "could not be tried: there is no such thing");
    }

    @Test
    void shouldNotBatchWhatFailsTogether() {
        shouldNotBatch(
                open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
                    if (execution.inputSpec(0).shape().dim(0) > 1) {
                        throw new IllegalStateException("one at a time");
                    }
                    ScriptedBackend.copy(execution);
                }),
                "requests that run together fail: java.lang.IllegalStateException: one at a time");
    }

    @Test
    void shouldBeginNoRunAfterOneThatTakesASecond() {
        shouldNotBatch(
                open(DataType.TYPE_FP32, DataType.TYPE_FP32, execution -> {
                    Await.until("the end of a second", () -> test.backend.stopped.get() > 0);
                    throw new IllegalStateException("stopped");
                }),
                "takes longer than a second");
        assertThat(shapes).hasSize(1);
    }

    @Test
    void shouldNotTryWhatSomebodyHasConfigured() {
        shouldBatch(open(
                UNSAID + " dynamic_batching { }",
                DataType.TYPE_FP32,
                DataType.TYPE_FP32,
                elementwise(value -> Double.NaN)));
        assertThat(shapes).isEmpty();
    }
}
