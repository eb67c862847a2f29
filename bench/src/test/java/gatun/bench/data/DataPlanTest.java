// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ArrayTensors;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataPlanTest {
    private static final GeneratedTensors RANDOM = new GeneratedTensors(true, Optional.empty(), 6, 1);

    @TempDir
    Path folder;

    @Test
    void shouldMakeRandomDataThatTheSeedDecides() {
        ModelDescription model = model(true, spec("IN", Datatype.FP32, -1, 4));
        try (DataSet first = generated(model, 3, RANDOM);
                DataSet second = generated(model, 3, RANDOM);
                DataSet other = generated(model, 3, new GeneratedTensors(true, Optional.empty(), 6, 2))) {
            float[] values = ArrayTensors.floats(input(first, 0));
            assertThat(values).hasSize(12).doesNotHaveDuplicates();
            for (float value : values) {
                assertThat(value).isBetween(0f, 1f);
            }
            assertThat(ArrayTensors.floats(input(second, 0))).isEqualTo(values);
            assertThat(ArrayTensors.floats(input(other, 0))).isNotEqualTo(values);
        }
    }

    @Test
    void shouldMakeDataOfEveryDatatype() {
        for (Datatype datatype : Datatype.values()) {
            if (datatype == Datatype.INVALID) {
                continue;
            }
            ModelDescription model = model(false, spec("IN", datatype, 5));
            try (DataSet data = generated(model, 1, RANDOM)) {
                long expected = datatype == Datatype.BYTES ? 5 * (4 + 6) : 5L * datatype.byteSize();
                assertThat(input(data, 0).byteSize()).as(datatype.name()).isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldMakeZerosAndGivenStrings() {
        ModelDescription model = model(false, spec("N", Datatype.INT32, 3), spec("S", Datatype.BYTES, 2));
        try (DataSet data = generated(model, 1, new GeneratedTensors(false, Optional.of("42"), 6, 1))) {
            assertThat(ArrayTensors.ints(data.step(0).inputs().get(0))).containsExactly(0, 0, 0);
            assertThat(ArrayTensors.strings(data.step(0).inputs().get(1))).containsExactly("42", "42");
        }
    }

    @Test
    void shouldLeaveOptionalInputsOutOfGeneratedData() {
        ModelDescription model = new ModelDescription(
                "m",
                List.of(spec("A", Datatype.INT32, 1), spec("B", Datatype.INT32, 1)),
                List.of(),
                false,
                false,
                List.of("B"));
        try (DataSet data = generated(model, 1, RANDOM)) {
            assertThat(data.step(0).inputs()).hasSize(1);
        }
    }

    @Test
    void shouldSayWhichShapeToWriteWhereADimensionIsOpen() {
        ModelDescription model = model(false, spec("IN", Datatype.FP32, -1, 3, -1));
        assertThatThrownBy(() -> generated(model, 1, RANDOM).close())
                .isInstanceOf(DataException.class)
                .hasMessage(
                        "input 'IN' of model 'm' has the shape [-1,3,-1], where -1 is any size: give a size for each,"
                                + " such as --shape=IN:16,3,16");
    }

    @Test
    void shouldTakeShapesWithTheBatchAndWithout() {
        ModelDescription model = model(true, spec("IN", Datatype.FP32, -1, -1));
        for (Shape given : List.of(Shape.of(7), Shape.of(2, 7))) {
            try (DataSet data = plan(Map.of("IN", given), 2, Optional.empty(), Optional.empty())
                    .open(model)) {
                assertThat(input(data, 0).spec().shape()).isEqualTo(Shape.of(2, 7));
            }
        }
    }

    @Test
    void shouldRefuseShapesThatDoNotFit() {
        ModelDescription model = model(false, spec("IN", Datatype.FP32, -1, 3));
        assertThatThrownBy(() -> plan(Map.of("IN", Shape.of(2, 4)), 1, Optional.empty(), Optional.empty())
                        .open(model))
                .hasMessageContaining("--shape=IN:2,4: model 'm' has the input 'IN' with the shape [-1,3]");
        assertThatThrownBy(() -> plan(Map.of("X", Shape.of(2, 4)), 1, Optional.empty(), Optional.empty())
                        .open(model))
                .hasMessage("--shape=X: model 'm' has no input 'X': it has 'IN'");
    }

    @Test
    void shouldReadAFileOfPerfAnalyzer() throws IOException {
        ModelDescription model = model(
                true,
                spec("F", Datatype.FP32, -1, 2),
                spec("S", Datatype.BYTES, -1, 1),
                spec("V", Datatype.INT64, -1, -1),
                spec("R", Datatype.UINT8, -1, 4));
        Path file = write("""
                {"data": [
                  {"F": [1.5, -2], "S": ["ä"], "V": {"content": [[7, 8, 9]], "shape": [3]}, "R": {"b64": "AQIDBA=="}},
                  {"F": [[3, 4]], "S": [{"b64": "aGk="}], "V": [5], "R": {"content": {"b64": "BQYHCA=="}}}
                ]}
                """);
        try (DataSet data =
                plan(Map.of(), 1, Optional.of(file), Optional.empty()).open(model)) {
            assertThat(data.size()).isEqualTo(2);
            assertThat(ArrayTensors.floats(input(data, 0))).containsExactly(1.5f, -2f);
            assertThat(input(data, 0).spec().shape()).isEqualTo(Shape.of(1, 2));
            assertThat(ArrayTensors.strings(data.step(0).inputs().get(1))).containsExactly("ä");
            assertThat(data.step(0).inputs().get(2).spec().shape()).isEqualTo(Shape.of(1, 3));
            assertThat(ArrayTensors.longs(data.step(0).inputs().get(2))).containsExactly(7, 8, 9);
            assertThat(ArrayTensors.bytes(data.step(0).inputs().get(3))).containsExactly(1, 2, 3, 4);
            assertThat(ArrayTensors.strings(data.step(1).inputs().get(1))).containsExactly("hi");
            assertThat(data.step(1).inputs().get(2).spec().shape()).isEqualTo(Shape.of(1, 1));
            assertThat(ArrayTensors.bytes(data.step(1).inputs().get(3))).containsExactly(5, 6, 7, 8);
        }
    }

    @Test
    void shouldRepeatTheDataOfOneForTheWholeBatch() throws IOException {
        ModelDescription model = model(true, spec("F", Datatype.INT32, -1, 2), spec("S", Datatype.BYTES, -1, 1));
        Path file = write("{\"data\": [{\"F\": [1, 2], \"S\": [\"a\"]}]}");
        try (DataSet data =
                plan(Map.of(), 3, Optional.of(file), Optional.empty()).open(model)) {
            assertThat(ArrayTensors.ints(input(data, 0))).containsExactly(1, 2, 1, 2, 1, 2);
            assertThat(ArrayTensors.strings(data.step(0).inputs().get(1))).containsExactly("a", "a", "a");
        }
    }

    @Test
    void shouldReadSequencesAndGiveEachWorkerAnother() throws IOException {
        ModelDescription model = model(false, spec("IN", Datatype.INT32, 1));
        Path file = write("{\"data\": [[{\"IN\": [1]}, {\"IN\": [2]}], [{\"IN\": [3]}]]}");
        try (DataSet data =
                plan(Map.of(), 1, Optional.of(file), Optional.empty()).open(model)) {
            assertThat(data.size()).isEqualTo(3);
            assertThat(List.of(data.first(0), data.first(1), data.first(2))).containsExactly(0, 2, 0);
            assertThat(data.step(0).start()).isTrue();
            assertThat(data.step(0).end()).isFalse();
            assertThat(data.step(1).start()).isFalse();
            assertThat(data.step(1).end()).isTrue();
            assertThat(data.next(2)).isZero();
        }
    }

    @Test
    void shouldReadExpectedOutputs() throws IOException {
        ModelDescription model = model(false, spec("IN", Datatype.FP32, 2));
        Path file = write(
                "{\"data\": [{\"IN\": [1, 2]}, {\"IN\": [3, 4]}], \"validation_data\": [{\"OUT\": [1, 2]}, {\"OUT\": [3, 4]}]}");
        try (DataSet data =
                plan(Map.of(), 1, Optional.of(file), Optional.empty()).open(model)) {
            assertThat(data.checksResponses()).isTrue();
            Tensor right = ArrayTensors.of("OUT", new float[] {3, 4.00001f});
            assertThat(data.step(1).expected().differences(List.of(right))).isEmpty();
            assertThat(data.step(0).expected().differences(List.of(right)))
                    .isEqualTo("output 'OUT' has 3.0 at element 0: expected 1.0");
        }
        Path alone = write("{\"OUT\": [3, 4]}");
        try (DataSet data =
                plan(Map.of(), 1, Optional.empty(), Optional.of(alone)).open(model)) {
            assertThat(data.step(0).expected().outputs()).hasSize(1);
        }
    }

    @Test
    void shouldNameTheLineOfWhatIsWrong() throws IOException {
        ModelDescription model = model(false, spec("IN", Datatype.INT8, 2));
        assertWrong(
                model,
                "{\"data\": [\n{\"IN\": [1,\n128]}]}",
                "line 3: an element of 'IN' does not fit INT8:" + " expected a number that INT8 can hold, got 128");
        assertWrong(
                model,
                "{\"data\": [\n{\"IN\": [1, 2.5]}]}",
                "line 2: an element of 'IN' does not fit INT8:" + " expected a whole number");
        assertWrong(
                model, "{\"data\": [\n{\"IN\": [1]}]}", "line 2: 'IN' has 1 elements: expected 2, for the shape [2]");
        assertWrong(model, "{\"data\": [\n\n{\"OTHER\": [1, 2]}]}", "line 3: input 'IN' of model 'm' is missing");
        assertWrong(
                model,
                "{\"data\": [{\"IN\": [1, 2],\n\"OTHER\": [1, 2]}]}",
                "line 2: model 'm' has no input 'OTHER': it has 'IN'");
        assertWrong(model, "{\"data\": [{\"IN\": {\"b64\": \"?\"}}]}", "line 1: 'IN' is not base64");
        assertWrong(model, "{\"data\": [\n7]}", "line 2: an element of 'data': expected an object");
        assertWrong(model, "{\"data\": [\n", "line 2");
        assertWrong(model, "[]", "line 1: expected an object with the member 'data'");
        assertWrong(model, "{\"data\": []}", "line 1: expected a member 'data' with at least one request");
        assertWrong(model, "", "is empty");
    }

    @Test
    void shouldSayThatAFileIsMissing() {
        Path missing = folder.resolve("missing.json");
        ModelDescription model = model(false, spec("IN", Datatype.INT8, 2));
        assertThatThrownBy(() -> plan(Map.of(), 1, Optional.of(missing), Optional.empty())
                        .open(model))
                .hasMessage(missing + ": there is no such file");
    }

    private void assertWrong(ModelDescription model, String json, String message) throws IOException {
        Path file = write(json);
        assertThatThrownBy(() ->
                        plan(Map.of(), 1, Optional.of(file), Optional.empty()).open(model))
                .isInstanceOf(DataException.class)
                .hasMessageContaining(message)
                .hasMessageStartingWith(file.toString());
    }

    private Path write(String json) throws IOException {
        return Files.writeString(folder.resolve("data.json"), json);
    }

    private static DataSet generated(ModelDescription model, long batch, GeneratedTensors generated) {
        return new DataPlan(new InputShapes(Map.of(), batch), generated, Optional.empty(), Optional.empty(), 1e-5, 1)
                .open(model);
    }

    private static DataPlan plan(Map<String, Shape> shapes, long batch, Optional<Path> data, Optional<Path> expected) {
        return new DataPlan(new InputShapes(shapes, batch), RANDOM, data, expected, 1e-5, 1);
    }

    private static Tensor input(DataSet data, int step) {
        return data.step(step).inputs().getFirst();
    }

    private static ModelDescription model(boolean batched, TensorSpec... inputs) {
        return new ModelDescription(
                "m", List.of(inputs), List.of(spec("OUT", Datatype.FP32, 2)), batched, false, List.of());
    }

    private static TensorSpec spec(String name, Datatype datatype, long... dims) {
        return new TensorSpec(name, datatype, Shape.of(dims));
    }
}
