// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.google.protobuf.TextFormat;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.Example;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExampleMappingsTest {
    private static final String FEATURES = """
            features {
              feature { key: "f32" value { float_list { value: [ 1.5, -2 ] } } }
              feature { key: "f64" value { int64_list { value: 7 } } }
              feature { key: "i8" value { int64_list { value: [ -128, 127 ] } } }
              feature { key: "u16" value { int64_list { value: 65535 } } }
              feature { key: "flag" value { int64_list { value: 1 } } }
              feature { key: "text" value { bytes_list { value: [ "one", "" ] } } }
              feature { key: "value" value { float_list { value: 0.5 } } }
            }
            """;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private final BufferPool pool = runtime.pool();

    @TempDir
    Path repository;

    private GatunServer server;

    @BeforeEach
    void open() throws IOException {
        model("judge", """
                max_batch_size: 4
                input [
                  { name: "f32" data_type: TYPE_FP32 dims: [ 1, 2 ] },
                  { name: "f64" data_type: TYPE_FP64 dims: [ 1 ] },
                  { name: "i8" data_type: TYPE_INT8 dims: [ -1 ] },
                  { name: "u16" data_type: TYPE_UINT16 dims: [ 1 ] },
                  { name: "flag" data_type: TYPE_BOOL dims: [ 1 ] },
                  { name: "text" data_type: TYPE_STRING dims: [ 2 ] },
                  { name: "value" data_type: TYPE_FP32 dims: [ 1 ] }
                ]
                output [
                  { name: "p" data_type: TYPE_FP32 dims: [ 1, 2 ] },
                  { name: "o64" data_type: TYPE_FP64 dims: [ 1 ] },
                  { name: "o8" data_type: TYPE_INT8 dims: [ -1 ] },
                  { name: "o16" data_type: TYPE_UINT16 dims: [ 1 ] },
                  { name: "oflag" data_type: TYPE_BOOL dims: [ 1 ] },
                  { name: "label" data_type: TYPE_STRING dims: [ 2 ] },
                  { name: "answer" data_type: TYPE_FP32 dims: [ 1 ] }
                ]
                parameters { key: "tensorflow_classify" value { string_value: "classes = label" } }
                parameters { key: "tensorflow_regress" value { string_value: "outputs=answer" } }
                """);
        model("wrong", """
                input { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } output { name: "y" data_type: TYPE_FP32 dims: [ 2 ] }
                parameters { key: "tensorflow_regress" value { string_value: "outputs=y" } }
                """);
        server = runtime.serve(options -> options.repository(repository)
                .configurationRule(ExampleMappings::check)
                .exitTimeout(Duration.ofSeconds(10)));
    }

    private void model(String name, String config) throws IOException {
        Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), "backend: \"identity\" " + config);
    }

    private static Servable servable(String signature) {
        return new Servable("judge", OptionalLong.empty(), Optional.empty(), signature);
    }

    private InferenceRequest ask(ExampleSignature signature, String... examples) throws Exception {
        List<byte[]> messages = new ArrayList<>();
        for (String example : examples) {
            messages.add(TextFormat.parse(example, Example.class).toByteArray());
        }
        Buffer buffer = pool.take(BytesCodec.encodedByteSize(messages));
        BytesCodec.encode(messages, buffer.segment());
        InferenceRequest request = new InferenceRequest(server.model("judge", ""));
        try {
            signature.ask(request, pool, buffer.segment(), messages.size(), buffer);
        } catch (RuntimeException e) {
            request.close();
            throw e;
        }
        return request;
    }

    @Test
    void shouldFillInputsFromTheFeaturesOfTheirNames() throws Exception {
        ModelVersion model = server.model("judge", "");
        ExampleSignature regress = ExampleSignature.of(model, ExampleMethod.REGRESS, servable(""), false);

        try (InferenceResponse response = server.infer(
                ask(regress, FEATURES, FEATURES.replace("0.5", "0.25").replace("-128", "3")))) {
            MemorySegment values = regress.values(response.outputs(), 2);
            assertThat(values.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0.5f, 0.25f);
        }
        try (InferenceRequest request = ask(regress, FEATURES)) {
            assertThat(request.inputs())
                    .extracting(
                            input -> input.spec().name() + " " + input.spec().shape())
                    .containsExactly(
                            "f32 [1,1,2]",
                            "f64 [1,1]",
                            "i8 [1,2]",
                            "u16 [1,1]",
                            "flag [1,1]",
                            "text [1,2]",
                            "value [1,1]");
            assertThat(hex(request.inputs().get(0))).isEqualTo("0000c03f000000c0");
            assertThat(hex(request.inputs().get(1))).isEqualTo("0000000000001c40");
            assertThat(hex(request.inputs().get(2))).isEqualTo("807f");
            assertThat(hex(request.inputs().get(3))).isEqualTo("ffff");
            assertThat(hex(request.inputs().get(4))).isEqualTo("01");
            assertThat(hex(request.inputs().get(5))).isEqualTo("030000006f6e6500000000");
        }
    }

    private static String hex(Tensor tensor) {
        return HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void shouldReadClassesFromTheOutputThatTheConfigurationNames() throws Exception {
        ModelVersion model = server.model("judge", "");
        ExampleSignature classify = ExampleSignature.of(model, ExampleMethod.CLASSIFY, servable("classify"), false);

        try (InferenceResponse response = server.infer(ask(classify, FEATURES))) {
            ScoredClasses classes = classify.classes(response.outputs(), 1);
            assertThat(classes.classCount()).isEqualTo(2);
            assertThat(BytesCodec.elementByteSize(classes.labels(), classes.nextLabel()))
                    .isEqualTo(3);
            assertThat(classes.nextScore()).isZero();
            assertThat(BytesCodec.elementByteSize(classes.labels(), classes.nextLabel()))
                    .isZero();
        }
    }

    @Test
    void shouldShowSignaturesForExamples() {
        assertThat(ExampleMappings.signatures(server.model("judge", "")))
                .extracting(EntryPoint::name, EntryPoint::method)
                .containsExactly(
                        tuple("serving_default", ""),
                        tuple("classify", "tensorflow/serving/classify"),
                        tuple("regress", "tensorflow/serving/regress"));
        assertThat(ExampleSignature.exists(server.model("judge", ""), servable("regress")))
                .isTrue();
        assertThat(ExampleSignature.exists(server.model("judge", ""), servable("other")))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "u16| v16| Feature: u16 is required but could not be found in example 0; features are named as the"
                        + " model's"
                        + " inputs",
                "value: 65535| value: 65536| Feature: u16 has the value 65536, which the input's type uint16 does"
                        + " not have",
                "value: [ 1.5, -2 ]| value: 1.5| Feature: f32 has 1 values in example 0; expected 2, for the input"
                        + " takes"
                        + " [1,2] of each example, and of each as many as of the first",
                "float_list { value: 0.5 }| bytes_list { value: \"x\" }| Feature: value has values of kind BYTES_LIST in"
                        + " example 0, and the input takes float",
                "int64_list { value: 65535 }| float_list { value: 1 }| Feature: u16 has values of kind FLOAT_LIST in"
                        + " example 0, and the input takes uint16",
                "float_list { value: 0.5 }| ''| Feature: value has 0 values in example 0; expected 1, for the input"
                        + " takes [1]"
                        + " of each example, and of each as many as of the first"
            })
    void shouldRefuseExamplesThatDoNotFillTheInputs(String from, String to, String expected) {
        ExampleSignature signature =
                ExampleSignature.of(server.model("judge", ""), ExampleMethod.REGRESS, servable("regress"), false);
        String example = FEATURES.replace(from, to);

        assertThatThrownBy(() -> ask(signature, example))
                .isInstanceOf(GatunException.class)
                .hasMessage(expected);
    }

    @Test
    void shouldRefuseExamplesThatDiffer() {
        ExampleSignature signature =
                ExampleSignature.of(server.model("judge", ""), ExampleMethod.REGRESS, servable(""), false);

        assertThatThrownBy(() -> ask(signature, FEATURES, FEATURES.replace("[ -128, 127 ]", "1")))
                .hasMessage(
                        "Feature: i8 has 1 values in example 1; expected 2, for the input takes [-1] of each example,"
                                + " and of each as many as of the first");
    }

    @Test
    void shouldNotLoadAModelThatCannotBeAskedSo() {
        assertThat(server.index())
                .filteredOn(row -> row.name().equals("wrong"))
                .singleElement()
                .satisfies(row -> assertThat(row.reason())
                        .startsWith("parameter 'tensorflow_regress' of model 'wrong': examples cannot fill the input"
                                + " 'x', since the model has no batch dimension"));
    }

    private static ModelConfig config(String text) throws TextFormat.ParseException {
        return TextFormat.parse("name: \"m\" max_batch_size: 8 " + text, ModelConfig.class);
    }

    private static String parameter(String method, String value) {
        return " parameters { key: \"tensorflow_" + method + "\" value { string_value: \"" + value + "\" } }";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "classify; scores; is 'scores'",
                "classify; ''; is ''",
                "classify; scores=p,scores=p; is 'scores=p,scores=p'",
                "classify; outputs=p; expected each of classes, scores once at most, with the output that it is,"
                        + " such as"
                        + " scores=OUTPUT",
                "classify; scores=q; names the output 'q', which the model does not have",
                "classify; classes=p; takes 'p' of TYPE_FP32 for classes, which are of TYPE_STRING",
                "classify; scores=s; takes 's' of TYPE_STRING for scores, which are of TYPE_FP32",
                "classify; scores=deep; takes 'deep' of shape [-1,2,2] for scores, which have one row of classes for"
                        + " each"
                        + " example",
                "regress; outputs=p; takes 'p' of shape [-1,3] for outputs, which have one value for each example"
            })
    void shouldRefuseMappingsThatCannotWork(String method, String value, String expected) throws Exception {
        ModelConfig config = config("input { name: \"x\" data_type: TYPE_FP32 dims: 1 }"
                + " output [ { name: \"p\" data_type: TYPE_FP32 dims: 3 }, { name: \"s\" data_type: TYPE_STRING dims: 3 },"
                + " { name: \"deep\" data_type: TYPE_FP32 dims: [ 2, 2 ] } ]"
                + parameter(method, value));

        assertThatThrownBy(() -> ExampleMappings.check(config))
                .hasMessageStartingWith("parameter 'tensorflow_" + method + "' of model 'm'")
                .hasMessageContaining(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "data_type: TYPE_FP16 dims: 1; of TYPE_FP16; expected TYPE_FP32",
                "data_type: TYPE_FP32 dims: [ -1, -1 ]; more than one dimension of an example is open"
            })
    void shouldRefuseInputsThatFeaturesCannotFill(String input, String expected) throws Exception {
        ModelConfig config = config("input { name: \"x\" " + input
                + " } output { name: \"p\" data_type: TYPE_FP32 dims: 3 }" + parameter("classify", "scores=p"));

        assertThatThrownBy(() -> ExampleMappings.check(config)).hasMessageContaining(expected);
    }

    @Test
    void shouldRefuseModelsWithAnyNumberOfAnswers() throws Exception {
        ModelConfig config =
                config("model_transaction_policy { decoupled: true } input { name: \"x\" data_type: TYPE_FP32"
                        + " dims: 1 } output { name: \"p\" data_type: TYPE_FP32 dims: 3 }"
                        + parameter("classify", "scores=p"));

        assertThatThrownBy(() -> ExampleMappings.check(config)).hasMessageContaining("decoupled");
        assertThatCode(() -> ExampleMappings.check(
                        config.toBuilder().clearModelTransactionPolicy().build()))
                .doesNotThrowAnyException();
    }
}
