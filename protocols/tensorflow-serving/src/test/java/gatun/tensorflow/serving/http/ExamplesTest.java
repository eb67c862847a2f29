// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static gatun.tensorflow.serving.ExampleMethod.CLASSIFY;
import static gatun.tensorflow.serving.ExampleMethod.REGRESS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.http.json.JsonWriter;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.http.ExampleRoute.ExampleResponseJson;
import gatun.tensorflow.serving.http.ExampleRoute.ExamplesReader;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ExamplesTest {
    private final BufferPool pool = new BufferPool(4 << 20);
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        assertThat(pool.usedBytes()).isZero();
        arena.close();
        pool.close();
    }

    private List<Example> read(String json) throws Exception {
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        MemorySegment text = arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
        List<Example> examples = new ArrayList<>();
        try (ExamplesReader reader =
                new ExamplesReader(pool, RequestDocument.forExamples(text, 0, bytes.length, RequestUsage.standard()))) {
            MemorySegment elements = reader.elements();
            long at = 0;
            while (at < elements.byteSize()) {
                long length = BytesCodec.elementByteSize(elements, at);
                examples.add(Example.parseFrom(
                        elements.asSlice(at + BytesCodec.LENGTH_BYTES, length).toArray(ValueLayout.JAVA_BYTE)));
                at += BytesCodec.LENGTH_BYTES + length;
            }
            assertThat(reader.count()).isEqualTo(examples.size());
        }
        return examples;
    }

    private static Feature feature(Example example, String name) {
        return example.getFeatures().getFeatureOrThrow(name);
    }

    @Test
    void shouldMakeFeaturesOfEachKind() throws Exception {
        Example example = read("{\"examples\":[{\"i\":[1,-2,true],\"f\":[1.5,NaN],\"s\":[\"a\",{\"b64\":\"YmI=\"}],"
                        + "\"one\":7,\"mixed\":[true,false,5],\"low\":-Infinity,"
                        + "\"far\":[-9223372036854775809,18446744073709551616],\"none\":[],\"long\":\""
                        + "x".repeat(300) + "\"}]}")
                .getFirst();

        assertThat(feature(example, "i").getInt64List().getValueList()).containsExactly(1L, -2L, 1L);
        assertThat(feature(example, "f").getFloatList().getValueList()).containsExactly(1.5f, Float.NaN);
        assertThat(feature(example, "s").getBytesList().getValueList())
                .extracting(bytes -> bytes.toStringUtf8())
                .containsExactly("a", "bb");
        assertThat(feature(example, "one").getInt64List().getValueList()).containsExactly(7L);
        assertThat(feature(example, "mixed").getInt64List().getValueList()).containsExactly(1L, 0L, 5L);
        assertThat(feature(example, "low").getFloatList().getValueList()).containsExactly(Float.NEGATIVE_INFINITY);
        assertThat(feature(example, "far").getFloatList().getValueList()).containsExactly(-9.223372e18f, 1.8446744e19f);
        assertThat(feature(example, "none").getKindCase()).isEqualTo(Feature.KindCase.KIND_NOT_SET);
        assertThat(feature(example, "long").getBytesList().getValue(0).size()).isEqualTo(300);
    }

    @Test
    void shouldMergeTheContextIntoEachExample() throws Exception {
        List<Example> examples = read("{\"context\":{\"c\":\"x\"},\"examples\":[{\"a\":1},{\"a\":2,\"c\":\"y\"}]}");

        assertThat(examples).hasSize(2);
        assertThat(feature(examples.get(0), "c").getBytesList().getValue(0).toStringUtf8())
                .isEqualTo("x");
        assertThat(feature(examples.get(0), "a").getInt64List().getValue(0)).isEqualTo(1);
        assertThat(feature(examples.get(1), "c").getBytesList().getValue(0).toStringUtf8())
                .isEqualTo("y");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "{\"examples\":5}; JSON Value: {@    \"examples\": 5@} Expecting 'examples' value to be an list/array",
                "{\"examples\":[]}; JSON Value: {@    \"examples\": []@} 'examples' value is an empty array",
                "{\"examples\":[1]}; Example must be JSON object but got JSON Number",
                "{\"examples\":[[{}]]}; Example must be JSON object but got JSON Array",
                "{\"context\":[{\"c\":1}]}; Example must be JSON object but got JSON Array",
                "{\"context\":{}}; JSON Value: {@    \"context\": {}@} When method is classify, key 'examples' is expected and was not found",
                "{\"signature_name\":[\"s\"],\"examples\":[{}]}; JSON Value: {@    \"signature_name\": [\"s\"],@    \"examples\": [{}]@} not formatted correctly. 'signature_name' key must be a string value.",
                "{\"context\":[],\"examples\":[{}]}; Example must be JSON object but got JSON Array",
                "{\"examples\":[{\"f\":null}]}; Feature: f has element with unexpected JSON type: Null",
                "{\"examples\":[{\"f\":[[1]]}]}; Feature: f has element with unexpected JSON type: Array",
                "{\"examples\":[{\"f\":{\"x\":1}}]}; Feature: f has element with unexpected JSON type: Object",
                "{\"examples\":[{\"f\":[1,null]}]}; Feature: f has element with unexpected JSON type: Null",
                "{\"examples\":[{\"f\":[1,{\"x\":1}]}]}; Feature: f has element with unexpected JSON type: Object",
                "{\"examples\":[{\"f\":[1,9223372036854775808]}]}; Feature: f has uint64_t element. Only int64_t is supported.",
                "{\"examples\":[{\"f\":[\"a\",1]}]}; Unexpected element type in feature: f expecting type: bytes",
                "{\"examples\":[{\"f\":[1.5,1]}]}; Unexpected element type in feature: f expecting type: float",
                "{\"examples\":[{\"f\":[1,1.5]}]}; Unexpected element type in feature: f expecting type: int64",
                "{\"examples\":[{\"f\":9223372036854775808}]}; Feature: f has uint64_t element. Only int64_t is supported."
            })
    void shouldRefuseWrongExamples(String json, String expected) {
        assertThatThrownBy(() -> read(json)).isInstanceOf(GatunException.class).hasMessage(expected.replace("@", "\n"));
    }

    @Test
    void shouldTakeAnyNumberOfNamesWithoutMakingTexts() throws Exception {
        String longName = "n".repeat(60_000);
        String json = "{\"examples\":[{\"" + longName + "\":1}" + ",{\"some\\u0041name\":1}".repeat(20_000) + "]}";

        List<Example> examples = read(json);

        assertThat(examples).hasSize(20_001);
        assertThat(feature(examples.getFirst(), longName).getInt64List().getValue(0))
                .isEqualTo(1);
        assertThat(feature(examples.getLast(), "someAname").getInt64List().getValue(0))
                .isEqualTo(1);
        assertThatThrownBy(() -> read("{\"examples\":[{\"" + longName + "\":null}]}"))
                .hasMessage("Feature: " + "n".repeat(256) + "... has element with unexpected JSON type: Null");
    }

    @Test
    void shouldNotCopyALongContextBeforeThousandsOfExamples() {
        String json =
                "{\"context\":{\"c\":\"" + "x".repeat(100_000) + "\"},\"examples\":[{}" + ",{}".repeat(999) + "]}";

        assertThatThrownBy(() -> read(json))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining("before each of 1000 examples")
                .hasMessageContaining("67108864");
    }

    private OutputTensor strings(String name, Shape shape, String... values) {
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(List.of(values)));
        BytesCodec.encodeText(List.of(values), bytes);
        return new OutputTensor(new Tensor(new TensorSpec(name, Datatype.BYTES, shape), bytes), false);
    }

    private OutputTensor floats(String name, Shape shape, float... values) {
        MemorySegment bytes = arena.allocate(ElementLayouts.FP32, values.length);
        MemorySegment.copy(values, 0, bytes, ElementLayouts.FP32, 0, values.length);
        return new OutputTensor(new Tensor(new TensorSpec(name, Datatype.FP32, shape), bytes), false);
    }

    /** A model with one signature, which is as {@code method} wants it. */
    private record Judge(ExampleMethod method) implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of(new TensorSpec("inputs", Datatype.BYTES, Shape.of(-1)));
        }

        @Override
        public List<TensorSpec> outputs() {
            return switch (method) {
                case CLASSIFY ->
                    List.of(
                            new TensorSpec("classes", Datatype.BYTES, Shape.of(-1, -1)),
                            new TensorSpec("scores", Datatype.FP32, Shape.of(-1, -1)));
                case REGRESS -> List.of(new TensorSpec("outputs", Datatype.FP32, Shape.of(-1)));
            };
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.getDefaultInstance();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1");
        }
    }

    private static String written(ExampleMethod method, long examples, OutputTensor... outputs) {
        Servable any = new Servable("judge", OptionalLong.empty(), Optional.empty(), "");
        ExampleSignature signature = ExampleSignature.of(new Judge(method), method, any, false);
        JsonWriter json = new JsonWriter();
        ExampleResponseJson.write(new IndentedJson(json, 4), method, signature, List.of(outputs), examples);
        return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldWriteClassesAndScores() {
        OutputTensor classes = strings("classes", Shape.of(2, 2), "label", "b", "c", "d");
        OutputTensor scores = floats("scores", Shape.of(2, 2), 0.5f, 0.25f, 1, 0);

        assertThat(written(CLASSIFY, 2, scores, classes))
                .isEqualTo(
                        "{\n    \"results\": [[[\"label\", 0.5], [\"b\", 0.25]], [[\"c\", 1.0], [\"d\", 0.0]]\n    ]\n}");
        assertThat(written(CLASSIFY, 2, scores)).contains("[[[\"\", 0.5], [\"\", 0.25]]");
        assertThat(written(CLASSIFY, 2, classes)).contains("[[[\"label\", 0.0], [\"b\", 0.0]]");
    }

    @ParameterizedTest
    @EnumSource
    void shouldLookAtTheNamesOfMethodsWhereTheOperatorWantsIt(ExampleMethod method) {
        Servable any = new Servable("judge", OptionalLong.empty(), Optional.empty(), "");
        assertThatThrownBy(() -> ExampleSignature.of(new Judge(method), method, any, true))
                .hasMessage("Expected %s signature method_name to be %s. Was: "
                        .formatted(method == CLASSIFY ? "classification" : "regression", method.signatureMethod()));
    }

    @Test
    void shouldWriteRegressions() {
        assertThat(written(REGRESS, 2, floats("outputs", Shape.of(2, 1), 3.5f, 4)))
                .isEqualTo("{\n    \"results\": [3.5, 4.0]\n}");
        float[] values = {0.3f, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN};
        assertThat(written(REGRESS, 4, floats("outputs", Shape.of(4), values)))
                .isEqualTo("{\n    \"results\": [0.3, Infinity, -Infinity, NaN]\n}");
    }

    @Test
    void shouldRefuseOutputsThatDoNotFit() {
        assertThatThrownBy(() -> written(REGRESS, 2, floats("outputs", Shape.of(1, 2), 1, 2)))
                .hasMessage("Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got [1,2]");
        assertThatThrownBy(() -> written(REGRESS, 1, floats("outputs", Shape.of(1, 1, 1), 1)))
                .hasMessage(
                        "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got [1,1,1]");
        assertThatThrownBy(() -> written(REGRESS, 1, strings("outputs", Shape.of(1), "1")))
                .hasMessage("Expected output Tensor of DT_FLOAT.  Got: DT_STRING");
        assertThatThrownBy(() -> written(CLASSIFY, 2, floats("scores", Shape.of(2), 1, 2)))
                .hasMessage("Expected Tensor shape: [batch_size num_classes] but got [2]");
        assertThatThrownBy(() -> written(CLASSIFY, 1, strings("scores", Shape.of(1, 1), "1")))
                .hasMessage("Expected scores Tensor of DT_FLOAT. Got: DT_STRING");
        assertThatThrownBy(() -> written(CLASSIFY, 2, strings("classes", Shape.of(1, 2), "a", "b")))
                .hasMessage("Expected classes output batch size of 2. Got: 1");
        assertThatThrownBy(() -> written(REGRESS, 3, floats("outputs", Shape.of(2), 1, 2)))
                .hasMessage("Input batch size did not match output batch size: 3 vs. 2");
        assertThatThrownBy(() -> written(CLASSIFY, 2, floats("scores", Shape.of(1, 2), 1, 2)))
                .hasMessage("Expected scores output batch size of 2. Got: 1");
        assertThatThrownBy(() -> written(CLASSIFY, 1, floats("classes", Shape.of(1, 2), 1, 2)))
                .hasMessage("Expected classes Tensor of DT_STRING. Got: DT_FLOAT");
        assertThatThrownBy(() -> written(
                        CLASSIFY, 1, strings("classes", Shape.of(1, 1), "a"), floats("scores", Shape.of(1, 2), 1, 2)))
                .hasMessage("Tensors class and score should match in dim_size(1). Got 1 vs. 2");
    }
}
