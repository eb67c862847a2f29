// SPDX-License-Identifier: Apache-2.0
package gatun.it.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.protobuf.ByteString;
import gatun.bindings.LibraryCache;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.v1.V1Client;
import gatun.it.v1.V1Header;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import gatun.wire.tensorflow.Features;
import gatun.wire.tensorflow.FloatList;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.ExampleList;
import gatun.wire.tensorflow.serving.Input;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import gatun.wire.tensorflow.serving.Regression;
import gatun.wire.tensorflow.serving.RegressionRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every example SavedModel through every protocol, on one real server with TensorFlow. */
@Timeout(120)
class SavedModelProtocolsIT {
    private static final int LIMIT_SECONDS = 20;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(SavedModelProtocolsIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    static Path models() {
        return ServerProcess.root().resolve("examples/tensorflow/models");
    }

    private static ServerProcess start() throws Exception {
        assumeThat(LibraryCache.ofUser().folder().resolve("tensorflow"))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isDirectory();
        return ServerProcess.launch(models(), "--allow-client-shm", "--rest_api_timeout_in_ms=5000");
    }

    /** A way to send a column of numbers as one input and to get one output of numbers. */
    enum Protocol {
        V2_JSON {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                String body = http.post(
                                "/v2/models/" + model + "/infer",
                                request(input, shape, "\"data\":" + Arrays.toString(values), ""))
                        .body();
                return numbers(body, "\"data\":\\[([^]]*)]");
            }
        },

        V2_BINARY {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                byte[] header = request(
                                input,
                                shape,
                                "\"parameters\":{\"binary_data_size\":" + values.length * Float.BYTES + "}",
                                ",\"parameters\":{\"binary_data_output\":true}")
                        .getBytes(StandardCharsets.UTF_8);
                ByteArrayOutputStream body = new ByteArrayOutputStream();
                body.writeBytes(header);
                body.writeBytes(bytes(values));
                HttpResponse<byte[]> response = http.send(
                        HttpRequest.newBuilder(server.http("/v2/models/" + model + "/infer"))
                                .header("Inference-Header-Content-Length", Integer.toString(header.length))
                                .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray())),
                        HttpResponse.BodyHandlers.ofByteArray());
                int start = response.headers()
                        .firstValue("Inference-Header-Content-Length")
                        .map(Integer::parseInt)
                        .orElseThrow(() -> new AssertionError(new String(response.body(), StandardCharsets.UTF_8)));
                return floats(ByteBuffer.wrap(response.body(), start, response.body().length - start));
            }
        },

        V2_GRPC {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                ModelInferRequest.Builder request =
                        ModelInferRequest.newBuilder().setModelName(model);
                ModelInferRequest.InferInputTensor.Builder tensor =
                        request.addInputsBuilder().setName(input).setDatatype("FP32");
                Arrays.stream(shape).forEach(tensor::addShape);
                request.addRawInputContents(ByteString.copyFrom(bytes(values)));
                return floats(grpc.service()
                        .modelInfer(request.build())
                        .getRawOutputContents(0)
                        .asReadOnlyByteBuffer());
            }
        },

        V2_SHARED_MEMORY {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                int byteSize = values.length * Float.BYTES;
                try (SharedObject object = SharedObject.create(8192)) {
                    object.write(0, bytes(values));
                    assertThat(http.register("region", object.key(), "0", "8192")
                                    .statusCode())
                            .isEqualTo(200);
                    String place = "\"parameters\":{\"shared_memory_region\":\"region\",\"shared_memory_byte_size\":"
                            + byteSize;
                    String body = http.post(
                                    "/v2/models/" + model + "/infer",
                                    request(
                                            input,
                                            shape,
                                            place + "}",
                                            ",\"outputs\":[{\"name\":\"" + output + "\"," + place
                                                    + ",\"shared_memory_offset\":4096}}]"))
                            .body();
                    assertThat(body).contains("\"name\":\"" + output + "\"").doesNotContain("\"data\"");
                    assertThat(http.unregister("region").statusCode()).isEqualTo(200);
                    return floats(object.read(4096, byteSize));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        },

        TENSORFLOW_REST {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                List<String> rows = new ArrayList<>();
                for (float value : values) {
                    rows.add(shape.length == 1 ? Float.toString(value) : "[" + value + "]");
                }
                String body = http.post("/v1/models/" + model + ":predict", "{\"inputs\":" + rows + "}")
                        .body();
                return numbers(body.replaceAll("[\\s\\[\\]]", ""), "\"outputs\":([^}]*)}");
            }
        },

        TENSORFLOW_GRPC {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                TensorProto.Builder tensor = TensorProto.newBuilder()
                        .setDtype(DataType.DT_FLOAT)
                        .setTensorContent(ByteString.copyFrom(bytes(values)));
                for (long dim : shape) {
                    tensor.getTensorShapeBuilder()
                            .addDim(TensorShapeProto.Dim.newBuilder().setSize(dim));
                }
                return prediction()
                        .predict(PredictRequest.newBuilder()
                                .setModelSpec(ModelSpec.newBuilder().setName(model))
                                .putInputs(input, tensor.build())
                                .build())
                        .getOutputsOrThrow(output)
                        .getFloatValList();
            }
        },

        V1_HTTP {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                return legacy(new V1Client.Http(http), model, input, output, shape, values);
            }
        },

        V1_GRPC {
            @Override
            List<Float> ask(String model, String input, String output, long[] shape, float... values) {
                return legacy(new V1Client.Grpc(grpc.channel()), model, input, output, shape, values);
            }
        };

        abstract List<Float> ask(String model, String input, String output, long[] shape, float... values);
    }

    private static PredictionServiceGrpc.PredictionServiceBlockingStub prediction() {
        return PredictionServiceGrpc.newBlockingStub(grpc.channel()).withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** A request of the v2 protocol in JSON, or the head of one. */
    private static String request(String input, long[] shape, String content, String more) {
        return "{\"inputs\":[{\"name\":\"" + input + "\",\"datatype\":\"FP32\",\"shape\":" + Arrays.toString(shape)
                + "," + content + "}]" + more + "}";
    }

    /** Asks by the legacy v1 API, where the batch is no dimension. */
    private static List<Float> legacy(
            V1Client client, String model, String input, String output, long[] shape, float... values) {
        boolean batches = model.startsWith("triton_");
        long[] dims = batches ? Arrays.copyOfRange(shape, 1, shape.length) : shape;
        V1Header header = V1Header.batch(batches ? shape[0] : 1)
                .input(input, bytes(values), dims)
                .output(output);
        V1Client.Response response =
                client.infer(model, V1Client.LATEST, header).succeeded();
        return floats(ByteBuffer.wrap(response.raw().getFirst()));
    }

    private static byte[] bytes(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        return bytes.array();
    }

    private static List<Float> floats(ByteBuffer bytes) {
        ByteBuffer left = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        List<Float> values = new ArrayList<>();
        while (left.hasRemaining()) {
            values.add(left.getFloat());
        }
        return values;
    }

    private static List<Float> numbers(String body, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(body);
        assertThat(found.find()).as(body).isTrue();
        return Arrays.stream(found.group(1).split(",", -1)).map(Float::valueOf).toList();
    }

    static Stream<Arguments> halves() {
        return Stream.of(
                        "half_plus_two 2",
                        "half_plus_three 3",
                        "two_versions 3",
                        "triton_half_plus_two 2",
                        "two_tags 2")
                .map(row -> row.split(" ", -1))
                .flatMap(row -> Arrays.stream(Protocol.values())
                        .map(protocol -> Arguments.of(row[0], Float.valueOf(row[1]), protocol)));
    }

    @ParameterizedTest
    @MethodSource("halves")
    void shouldAnswerOverEveryProtocol(String model, float summand, Protocol protocol) {
        assertThat(protocol.ask(model, "x", "y", new long[] {3, 1}, 1, 2, 5))
                .containsExactly(0.5f + summand, 1 + summand, 2.5f + summand);
    }

    @Test
    void shouldKeepOneStateForAllProtocols() {
        float sum = 0;
        for (Protocol protocol : Protocol.values()) {
            sum += 2;
            assertThat(protocol.ask("counter", "by", "count", new long[] {1}, 2))
                    .as(protocol.name())
                    .containsExactly(sum);
        }
    }

    @Test
    void shouldAnswerEachVersionOverTheProtocolsThatNameThem() {
        assertThat(http.post("/v1/models/two_versions/versions/2:predict", "{\"instances\":[2.0]}")
                        .body())
                .isEqualTo("{\n    \"predictions\": [4.0\n    ]\n}");
        assertThat(http.post(
                                "/v2/models/two_versions/versions/2/infer",
                                request("x", new long[] {1, 1}, "\"data\":[2]", ""))
                        .body())
                .contains("\"data\":[4.0]");
        assertThat(http.post("/v1/models/two_versions/versions/1:predict", "{\"instances\":[2.0]}")
                        .body())
                .contains("Servable not found for request: Specific(two_versions, 1)");
    }

    @Test
    void shouldTakeRowsStringsAndSignatures() {
        assertThat(http.post("/v1/models/half_plus_two:predict", "{\"instances\":[1.0,2.0,5.0]}")
                        .body())
                .isEqualTo("{\n    \"predictions\": [2.5, 3.0, 4.5\n    ]\n}");
        assertThat(http.post(
                                "/v1/models/strings:predict",
                                "{\"signature_name\":\"echo\",\"instances\":[\"one\",{\"b64\":\"dHdv\"}]}")
                        .body())
                .isEqualTo("{\n    \"predictions\": [\"one\", \"two\"\n    ]\n}");
        assertThat(http.post("/v2/models/strings/infer", """
                                {"inputs": [
                                  {"name": "left", "datatype": "BYTES", "shape": [2], "data": ["one", "two"]},
                                  {"name": "right", "datatype": "BYTES", "shape": [2], "data": ["1", "2"]}],
                                 "outputs": [{"name": "joined"}]}""").body()).contains("\"data\":[\"one 1\",\"two 2\"]");
        PredictRequest.Builder echo = PredictRequest.newBuilder();
        echo.getModelSpecBuilder().setName("strings").setSignatureName("echo");
        TensorProto.Builder text = TensorProto.newBuilder()
                .setDtype(DataType.DT_STRING)
                .addStringVal(ByteString.copyFromUtf8("a text that is longer than 22 bytes"));
        text.getTensorShapeBuilder().addDimBuilder().setSize(1);
        TensorProto response = prediction()
                .predict(echo.putInputs("text", text.build()).build())
                .getOutputsOrThrow("text");
        assertThat(response.getStringValList()).isEqualTo(text.getStringValList());
    }

    @Test
    void shouldHaveAnsweredTheRequestsThatLieBesideAModelBeforeItServed() {
        assertThat(server.process().log()).contains("Model 'half_plus_two' version 1 answered 2 warm-up requests");
    }

    @Test
    void shouldEndARunWhenItsClientsTimeIsOver() {
        HttpResponse<String> late = http.post("/v1/models/loop:predict", "{\"inputs\":" + Long.MAX_VALUE + "}");
        assertThat(late.statusCode()).isEqualTo(504);
        assertThat(late.body()).contains("Timed out waiting for notification");
        assertThat(http.post("/v1/models/loop:predict", "{\"inputs\":7}").body())
                .contains("\"outputs\": 7");

        assertThatThrownBy(() ->
                        prediction().withDeadlineAfter(1, TimeUnit.SECONDS).predict(loop(Long.MAX_VALUE)))
                .hasMessageStartingWith("DEADLINE_EXCEEDED");
        assertThat(prediction().predict(loop(7)).getOutputsOrThrow("counted").getInt64ValList())
                .containsExactly(7L);
    }

    private static PredictRequest loop(long to) {
        TensorProto number = TensorProto.newBuilder()
                .setDtype(DataType.DT_INT64)
                .setTensorShape(TensorShapeProto.getDefaultInstance())
                .addInt64Val(to)
                .build();
        return PredictRequest.newBuilder()
                .setModelSpec(ModelSpec.newBuilder().setName("loop"))
                .putInputs("to", number)
                .build();
    }

    @Test
    void shouldTakeAndGiveScalars() {
        assertThat(http.post("/v1/models/scalars:predict", "{\"inputs\":{\"x\":[1.0,2.0],\"by\":10.0}}")
                        .body())
                .contains("\"sum\": 30.0");
    }

    /** Each type that only TensorFlow has: its name, the name of its signature, and three elements in two forms. */
    static Stream<Arguments> typesOfTensorFlow() {
        TensorProto.Builder numbers = TensorProto.newBuilder().addAllIntVal(List.of(1, 2, 7));
        ByteString bytes = ByteString.copyFrom(new byte[] {1, 2, 7});
        ByteString shorts = ByteString.copyFrom(new byte[] {1, 0, 2, 0, 7, 0});
        ByteString singles = ByteString.copyFrom(bytes(1, -1, 2, -2, 7, 0.5f));
        ByteBuffer doubles = ByteBuffer.allocate(6 * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        doubles.asDoubleBuffer().put(new double[] {1, -1, 2, -2, 7, 0.5});
        return Stream.of(
                Arguments.of(
                        DataType.DT_COMPLEX64,
                        "complex64",
                        TensorProto.newBuilder().addAllScomplexVal(List.of(1f, -1f, 2f, -2f, 7f, 0.5f)),
                        singles),
                Arguments.of(
                        DataType.DT_COMPLEX128,
                        "complex128",
                        TensorProto.newBuilder().addAllDcomplexVal(List.of(1d, -1d, 2d, -2d, 7d, 0.5)),
                        ByteString.copyFrom(doubles)),
                Arguments.of(DataType.DT_QINT8, "qint8", numbers, bytes),
                Arguments.of(DataType.DT_QUINT8, "quint8", numbers, bytes),
                Arguments.of(DataType.DT_QINT16, "qint16", numbers, shorts),
                Arguments.of(DataType.DT_QUINT16, "quint16", numbers, shorts),
                Arguments.of(DataType.DT_QINT32, "qint32", numbers, ByteString.copyFrom(new byte[] {
                    1, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0
                })),
                Arguments.of(DataType.DT_INT4, "int4", numbers, bytes),
                Arguments.of(DataType.DT_UINT4, "uint4", numbers, bytes),
                Arguments.of(
                        DataType.DT_FLOAT8_E5M2,
                        "fp8_e5m2",
                        TensorProto.newBuilder().setFloat8Val(bytes),
                        bytes),
                Arguments.of(
                        DataType.DT_FLOAT8_E4M3FN,
                        "fp8_e4m3fn",
                        TensorProto.newBuilder().setFloat8Val(bytes),
                        bytes));
    }

    @ParameterizedTest
    @MethodSource("typesOfTensorFlow")
    void shouldTakeAndGiveTypesThatOnlyTensorFlowHas(
            DataType type, String signature, TensorProto.Builder values, ByteString content) {
        TensorProto.Builder typed = values.clone().setDtype(type);
        typed.getTensorShapeBuilder().addDimBuilder().setSize(3);
        TensorProto.Builder raw = TensorProto.newBuilder()
                .setDtype(type)
                .setTensorShape(typed.getTensorShape())
                .setTensorContent(content);
        assertThat(echo(signature, typed.build())).isEqualTo(typed.build());
        assertThat(echo(signature, raw.build())).isEqualTo(typed.build());

        HttpResponse<String> json =
                http.post("/v1/models/types:predict", "{\"signature_name\":\"" + signature + "\",\"inputs\":[1]}");
        String name = type.name().substring("DT_".length()).toLowerCase(Locale.ROOT);
        assertThat(json.statusCode()).isEqualTo(501);
        assertThat(json.body()).contains("Conversion of JSON Value: 1 to type: " + name);
    }

    private static TensorProto echo(String signature, TensorProto tensor) {
        return prediction()
                .predict(PredictRequest.newBuilder()
                        .setModelSpec(ModelSpec.newBuilder().setName("types").setSignatureName(signature))
                        .putInputs("x", tensor)
                        .build())
                .getOutputsOrThrow("y");
    }

    @Test
    void shouldRepeatTheLastValueOfTypesThatOnlyTensorFlowHas() {
        TensorProto.Builder sparse = TensorProto.newBuilder().setDtype(DataType.DT_COMPLEX64);
        sparse.addScomplexVal(1)
                .addScomplexVal(2)
                .getTensorShapeBuilder()
                .addDimBuilder()
                .setSize(2);
        assertThat(echo("complex64", sparse.build()).getScomplexValList()).containsExactly(1f, 2f, 1f, 2f);
        TensorProto.Builder half = sparse.clone().addScomplexVal(3);
        assertThatThrownBy(() -> echo("complex64", half.build())).hasMessageContaining("tensor parsing error: x");
        TensorProto.Builder small = sparse.clone().clearScomplexVal().setDtype(DataType.DT_FLOAT8_E5M2);
        small.setFloat8Val(ByteString.copyFrom(new byte[] {5}));
        assertThat(echo("fp8_e5m2", small.build()).getFloat8Val()).isEqualTo(ByteString.copyFrom(new byte[] {5, 5}));
        small.setFloat8Val(ByteString.copyFrom(new byte[] {5, 6, 7}));
        assertThatThrownBy(() -> echo("fp8_e5m2", small.build())).hasMessageContaining("tensor parsing error: x");
    }

    @Test
    void shouldFillInTheDefaultsOfASignature() {
        assertThat(http.post("/v1/models/defaults:predict", "{\"inputs\":{\"x\":[1.0,2.0]}}")
                        .body()
                        .replaceAll("\\s", ""))
                .isEqualTo("{\"outputs\":{\"note\":[\"none\"],\"y\":[2.0,4.0]}}");
        TensorProto x = TensorProto.newBuilder()
                .setDtype(DataType.DT_FLOAT)
                .setTensorShape(TensorShapeProto.newBuilder()
                        .addDim(TensorShapeProto.Dim.newBuilder().setSize(1)))
                .addFloatVal(3)
                .build();
        PredictRequest.Builder request = PredictRequest.newBuilder();
        request.getModelSpecBuilder().setName("defaults");
        assertThat(prediction()
                        .predict(request.clone().putInputs("x", x).build())
                        .getOutputsOrThrow("y")
                        .getFloatValList())
                .containsExactly(6f);
        assertThatThrownBy(() -> prediction().predict(request.putInputs("by", x).build()))
                .hasMessageContaining(
                        "Signature input alias: x(feed name: x:0) not found in request and no default value"
                                + " provided. Inputs expected to be in the request {by}, or default input alias set: by,note");
    }

    /** The predictions for two examples with x = 2 and x = 4. */
    private static List<Float> regress() {
        return prediction()
                .regress(RegressionRequest.newBuilder()
                        .setModelSpec(
                                ModelSpec.newBuilder().setName("half_plus_two").setSignatureName("regress_x_to_y"))
                        .setInput(Input.newBuilder()
                                .setExampleList(ExampleList.newBuilder()
                                        .addExamples(example(2))
                                        .addExamples(example(4))))
                        .build())
                .getResult()
                .getRegressionsList()
                .stream()
                .map(Regression::getValue)
                .toList();
    }

    private static Example example(float x) {
        Feature feature = Feature.newBuilder()
                .setFloatList(FloatList.newBuilder().addValue(x))
                .build();
        return Example.newBuilder()
                .setFeatures(Features.newBuilder().putFeature("x", feature))
                .build();
    }

    @Test
    void shouldRegressExamples() {
        assertThat(regress()).containsExactly(3f, 4f);
    }
}
