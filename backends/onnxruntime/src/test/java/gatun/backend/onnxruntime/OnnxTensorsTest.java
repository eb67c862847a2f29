// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.BackendInstance;
import gatun.spi.Datatypes;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.testing.OnnxFile;
import gatun.testing.OnnxFile.Value;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Every datatype and every way that an output's shape may come about, on files of one operator. */
class OnnxTensorsTest {
    @TempDir
    Path version;

    private final OnnxRuntimeBackend backend = new OnnxRuntimeBackend();
    private final Arena arena = Arena.ofConfined();

    @BeforeEach
    void start() {
        backend.start(Map.of());
    }

    @AfterEach
    void nothingShouldBeLeft() {
        arena.close();
        assertThat(LiveHandles.values()).as("live values").isZero();
        assertThat(LiveHandles.sessions()).as("live sessions").isZero();
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.MATCH_NONE,
            names = {"BYTES", "INVALID", "COMPLEX.*", "QU?INT.*", "U?INT4", "FP8_.*"})
    void shouldCarryEveryDatatypeBitForBit(Datatype datatype) {
        try (BackendInstance instance = instance(
                "Identity",
                List.of(OnnxValues.of("IN", datatype, "n", "3")),
                List.of(OnnxValues.of("OUT", datatype, "n", "3")))) {
            instance.warmUp();
            Tensor input = random(datatype, Shape.of(5, 3));
            RecordedExecution execution = new RecordedExecution("OUT").input(input);
            instance.execute(execution);
            assertThat(execution.output("OUT").spec()).isEqualTo(new TensorSpec("OUT", datatype, Shape.of(5, 3)));
            assertThat(execution.output("OUT").bytes().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(input.bytes().toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void shouldCopyOutputsWhoseShapeNobodyKnowsBeforehand() {
        try (BackendInstance instance = instance(
                "NonZero",
                List.of(OnnxValues.of("IN", Datatype.FP32, "n")),
                List.of(OnnxValues.of("OUT", Datatype.INT64, "1", "")))) {
            for (float[] values : new float[][] {{0, 1, 0, 2}, {1}, {0, 0}}) {
                RecordedExecution execution = new RecordedExecution("OUT").input(floats("IN", values));
                instance.execute(execution);
                long count = 0;
                for (float value : values) {
                    count += value != 0 ? 1 : 0;
                }
                assertThat(execution.output("OUT").spec().shape()).isEqualTo(Shape.of(1, count));
                assertThat(execution.output("OUT").bytes().byteSize()).isEqualTo(count * Long.BYTES);
            }
        }
    }

    @Test
    void shouldRecoverFromAFileThatNamesADimensionWrongly() {
        try (BackendInstance instance = instance(
                "Concat",
                List.of(OnnxValues.of("A", Datatype.FP32, "n"), OnnxValues.of("B", Datatype.FP32, "m")),
                List.of(OnnxValues.of("OUT", Datatype.FP32, "n")),
                "axis",
                0)) {
            for (int i = 0; i < 3; i++) {
                RecordedExecution execution =
                        new RecordedExecution("OUT").input(floats("A", 1, 2, 3)).input(floats("B", 4, 5));
                instance.execute(execution);
                assertThat(execution.output("OUT").spec().shape()).isEqualTo(Shape.of(5));
                assertThat(execution.output("OUT").bytes().toArray(ValueLayout.JAVA_FLOAT))
                        .containsExactly(1, 2, 3, 4, 5);
            }
        }
    }

    @Test
    void shouldAnswerScalarsAndTensorsWithoutElements() {
        try (BackendInstance instance = instance(
                "ReduceSum",
                List.of(OnnxValues.of("IN", Datatype.FP32, "n")),
                List.of(OnnxValues.of("OUT", Datatype.FP32)),
                "keepdims",
                0)) {
            RecordedExecution sum = new RecordedExecution("OUT").input(floats("IN", 1, 2, 4));
            instance.execute(sum);
            assertThat(sum.output("OUT").spec().shape()).isEqualTo(Shape.of());
            assertThat(sum.output("OUT").bytes().get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(7);
            RecordedExecution nothing = new RecordedExecution("OUT").input(floats("IN"));
            instance.execute(nothing);
            assertThat(nothing.output("OUT").bytes().get(ValueLayout.JAVA_FLOAT, 0))
                    .isZero();
        }
    }

    @Test
    void shouldGoOnAfterMoreAddressesThanItKeepsValuesFor() {
        try (BackendInstance instance = instance(
                "Identity",
                List.of(OnnxValues.of("IN", Datatype.FP32, "n")),
                List.of(OnnxValues.of("OUT", Datatype.FP32, "n")))) {
            for (int i = 0; i < 500; i++) {
                RecordedExecution execution = new RecordedExecution("OUT").input(floats("IN", i, i + 1));
                instance.execute(execution);
                assertThat(execution.output("OUT").bytes().toArray(ValueLayout.JAVA_FLOAT))
                        .containsExactly(i, i + 1);
            }
            assertThat(LiveHandles.values()).as("values kept").isLessThanOrEqualTo(2 * 64);
        }
    }

    private Tensor floats(String name, float... values) {
        MemorySegment bytes = arena.allocate(Math.max(1, values.length * (long) Float.BYTES), 64)
                .asSlice(0, values.length * (long) Float.BYTES);
        MemorySegment.copy(values, 0, bytes, ValueLayout.JAVA_FLOAT, 0, values.length);
        return new Tensor(new TensorSpec(name, Datatype.FP32, Shape.of(values.length)), bytes);
    }

    private Tensor random(Datatype datatype, Shape shape) {
        byte[] bytes = new byte[Math.toIntExact(shape.byteSize(datatype))];
        new Random(17).nextBytes(bytes);
        if (datatype == Datatype.BOOL) {
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] &= 1;
            }
        }
        MemorySegment memory = arena.allocate(bytes.length, 64);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return new Tensor(new TensorSpec("IN", datatype, shape), memory);
    }

    /** An instance of a file of one operator, with the configuration that says the same without batching. */
    private BackendInstance instance(String op, List<Value> inputs, List<Value> outputs, String attribute, long value) {
        OnnxFile.write(version, op, inputs, outputs, attribute, value);
        ModelConfig.Builder config = ModelConfig.newBuilder().setName("m");
        for (Value input : inputs) {
            config.addInputBuilder()
                    .setName(input.name())
                    .setDataType(Datatypes.configured(ElementTypes.datatype(input.elementType())))
                    .addAllDims(dims(input));
        }
        for (Value output : outputs) {
            ModelOutput.Builder configured = config.addOutputBuilder()
                    .setName(output.name())
                    .setDataType(Datatypes.configured(ElementTypes.datatype(output.elementType())))
                    .addAllDims(dims(output));
            if (output.dims().isEmpty()) {
                configured.addDims(1).setReshape(ModelTensorReshape.getDefaultInstance());
            }
        }
        return backend.load(config.build(), version).newInstance(new InstanceSpec("m_0", 1, Device.CPU));
    }

    private BackendInstance instance(String op, List<Value> inputs, List<Value> outputs) {
        return instance(op, inputs, outputs, "", 0);
    }

    private static List<Long> dims(Value value) {
        return value.dims().stream()
                .map(dim -> dim.matches("[0-9]+") ? Long.parseLong(dim) : Shape.VARIABLE)
                .toList();
    }
}
