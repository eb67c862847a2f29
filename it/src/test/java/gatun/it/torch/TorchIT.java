// SPDX-License-Identifier: Apache-2.0
package gatun.it.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.protobuf.ByteString;
import gatun.bindings.LibraryCache;
import gatun.bindings.Torch;
import gatun.it.harness.ExampleModels;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.torch.ExamplePackages.Sample;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelMetadataRequest;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models of PyTorch's AOTInductor on the real server, beside what PyTorch's own Python answers. */
@Timeout(240)
class TorchIT {
    private static final String ENGINE = "backend: \"pytorch\" platform: \"torch_aoti\"\n";
    private static final String SUMS = ENGINE + """
            max_batch_size: 8
            input [ { name: "%1$s[0]" data_type: %2$s dims: [ 16 ] }, { name: "ARGS[1]" data_type: %2$s dims: [ 16 ] } ]
            output [ { name: "RESULT" data_type: %2$s dims: [ 16 ] } ]
            instance_group [ { count: 2 } ]
            """;
    private static final String TOKENS = """
            input [ { name: "INPUT__0" data_type: TYPE_INT64 dims: [ -1 ] }, { name: "INPUT__1" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 8 ] }, { name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ -1 ] } ]
            """;
    private static final String UNCHECKED =
            "parameters { key: \"UNCHECKED_SHAPES\" value: { string_value: \"true\" } }\n";

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension served = ServerExtension.of(TorchIT::open);

    private static final HttpApi http = served.http();

    private static final GrpcClient grpc = served.grpc();

    private static ServerProcess open() throws Exception {
        assumeThat(Torch.installed(LibraryCache.ofUser()))
                .as("PyTorch's library")
                .isPresent();
        model("sum_int8", "torch_aoti_int8_int8", SUMS.formatted("ARGS", "TYPE_INT8"));
        model("sum_float16", "torch_aoti_float16_float16", SUMS.formatted("ARGS", "TYPE_FP16"));
        model("by_backend", "add_sub", "backend: \"pytorch\"\n");
        model("by_places", "nested", ENGINE + places(5, 7));
        model("sequence", "running_sum", ENGINE + """
                max_batch_size: 8
                input [ { name: "INPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
                output [ { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1 ] } ]
                sequence_batching {
                  control_input [
                    { name: "INPUT__1" control [ { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } ] },
                    { name: "INPUT__2" control [ { kind: CONTROL_SEQUENCE_READY fp32_false_true: [ 0, 1 ] } ] } ]
                  state [ { input_name: "INPUT__3" output_name: "OUTPUT__1" data_type: TYPE_FP32 dims: [ 1 ] } ]
                }
                """);
        model(
                "apart",
                "classifier",
                ENGINE + "parameters { key: \"isolation\" value: { string_value: \"process\" } }\n");
        changed("unchecked", "tokens", "max_batch_size: 8\n" + TOKENS + UNCHECKED, TorchIT::withoutSource);
        broken();
        return ExamplePackages.ALL.serve(folder, "--model-control-mode=explicit", "--load-model=*");
    }

    /** Models that must not be served. */
    private static void broken() throws IOException {
        changed("undescribed", "tokens", TOKENS, TorchIT::withoutSource);
        changed("without_tensors", "tokens", "", TorchIT::withoutSource);
        changed("other_machine", "add_sub", "", text("_metadata.json", "x86_64", "aarch64"));
        changed("other_device", "add_sub", "", text("_metadata.json", "\"cpu\"", "\"cuda\""));
        changed("other_processor", "add_sub", "", (name, content) -> {
            if (name.endsWith(".so")) {
                content[18] = (byte) 183;
            }
            return content;
        });
        changed("other_version", "add_sub", "", text(".so", "aoti_torch_empty_strided", "aoti_torch_empty_stridex"));
        changed("bomb", "add_sub", "", (name, content) -> name.endsWith(".so") ? new byte[64 << 20] : content);
        changed("no_library", "add_sub", "", (name, content) -> name.endsWith(".so") ? new byte[0] : content);
        changed("no_model", "add_sub", "", (name, content) -> name.contains("aotinductor") ? new byte[0] : content);
        changed(
                "cut_weights",
                "weights_apart",
                "",
                (name, content) -> name.endsWith(".blob") ? Arrays.copyOf(content, 100) : content);
        Path cut = version("cut").resolve("model.pt2");
        byte[] whole = Files.readAllBytes(ExamplePackages.ALL.file("add_sub"));
        Files.write(cut, Arrays.copyOf(whole, whole.length / 2));
        model("no_weights", "weights_beside", "");
        model("other_weights", "weights_beside", "");
        String weights = Files.readString(
                ExamplePackages.ALL.file("weights_beside").resolveSibling("model.safetensors"),
                StandardCharsets.ISO_8859_1);
        Files.writeString(
                version("other_weights").resolve("model.safetensors"),
                weights.replace("[32, 16]", "[16, 32]"),
                StandardCharsets.ISO_8859_1);
        model("other_name", "torch_aoti_int8_int8", SUMS.formatted("ARG", "TYPE_INT8"));
        model("other_type", "torch_aoti_int8_int8", SUMS.formatted("ARGS", "TYPE_INT16"));
        model("large_batch", "classifier", ENGINE + "max_batch_size: 65\n" + """
                input [ { name: "ARGS[0]" data_type: TYPE_FP32 dims: [ 16 ] } ]
                output [ { name: "RESULT" data_type: TYPE_FP32 dims: [ 5 ] } ]
                """);
    }

    private static String places(int inputs, int outputs) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < inputs; i++) {
            text.append("input [ { name: \"INPUT__%d\" data_type: TYPE_INT8 dims: [ 1, 16 ] } ]\n".formatted(i));
        }
        for (int i = 0; i < outputs; i++) {
            text.append("output [ { name: \"OUTPUT__%d\" data_type: TYPE_INT8 dims: [ 1, 16 ] } ]\n".formatted(i));
        }
        return text.toString();
    }

    private static Path version(String model) throws IOException {
        return ExampleModels.version(folder, model);
    }

    private static void model(String name, String example, String config) throws IOException {
        ExamplePackages.ALL.copy(example, folder, name, config);
    }

    private static void changed(String name, String example, String config, ExamplePackages.Change change)
            throws IOException {
        ExamplePackages.rewrite(example, version(name).resolve("model.pt2"), change);
        ExampleModels.configure(folder, name, config);
    }

    private static byte[] withoutSource(String name, byte[] content) {
        return name.endsWith(".cpp") ? new byte[0] : content;
    }

    private static ExamplePackages.Change text(String end, String from, String to) {
        return (name, content) -> name.endsWith(end)
                ? new String(content, StandardCharsets.ISO_8859_1)
                        .replace(from, to)
                        .getBytes(StandardCharsets.ISO_8859_1)
                : content;
    }

    static List<String> names() throws IOException {
        return ExamplePackages.ALL.names();
    }

    private static ModelInferRequest request(String model, List<String> names, List<Sample> inputs) {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName(model);
        for (int i = 0; i < inputs.size(); i++) {
            request.addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                            .setName(names.get(i))
                            .setDatatype(inputs.get(i).datatype())
                            .addAllShape(inputs.get(i).shape()))
                    .addRawInputContents(inputs.get(i).bytes());
        }
        return request.build();
    }

    /** What the model says that its inputs are called. */
    private static List<String> inputNames(String model) {
        return grpc
                .service()
                .modelMetadata(ModelMetadataRequest.newBuilder().setName(model).build())
                .getInputsList()
                .stream()
                .map(input -> input.getName())
                .toList();
    }

    private static ModelInferResponse ask(String model, List<Sample> inputs) {
        return grpc.service().modelInfer(request(model, inputNames(model), inputs));
    }

    private static void assertAnswers(String model, String example) throws IOException {
        ModelInferResponse response = ask(model, ExamplePackages.samples(example, "inputs"));
        List<Sample> expected = ExamplePackages.samples(example, "outputs");
        assertThat(response.getOutputsCount()).isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            assertThat(response.getOutputs(i).getDatatype())
                    .isEqualTo(expected.get(i).datatype());
            assertThat(response.getOutputs(i).getShapeList())
                    .isEqualTo(expected.get(i).shape());
            if (example.equals("softmax")) {
                // Computed by the exp of the machine's C library.
                assertClose(
                        floats(response.getRawOutputContents(i)),
                        floats(expected.get(i).bytes()));
            } else {
                assertThat(response.getRawOutputContents(i))
                        .isEqualTo(expected.get(i).bytes());
            }
        }
    }

    private static void assertClose(float[] actual, float[] expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            assertThat(actual[i]).isCloseTo(expected[i], within(1e-6f));
        }
    }

    private static float[] floats(ByteString bytes) {
        float[] floats = new float[bytes.size() / Float.BYTES];
        bytes.asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer()
                .get(floats);
        return floats;
    }

    private static ByteString bytes(float... floats) {
        ByteBuffer bytes = ByteBuffer.allocate(floats.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(floats);
        return ByteString.copyFrom(bytes);
    }

    @ParameterizedTest
    @MethodSource("names")
    void shouldAnswerJustAsPyTorchWithoutAConfiguration(String model) throws IOException {
        assertAnswers(model, model);
    }

    @Test
    void shouldTakeNamesByPlace() throws IOException {
        assertThat(inputNames("by_places")).startsWith("INPUT__0", "INPUT__1");
        assertAnswers("by_places", "nested");
    }

    @Test
    void shouldBeChosenByTheFile() throws IOException {
        assertAnswers("by_backend", "add_sub");
        assertThat(http.get("/v2/models/by_backend/config").body())
                .contains("\"backend\":\"pytorch\"", "\"platform\":\"torch_aoti\"");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 8})
    void shouldBatchAsTritonDoes(int rows) {
        byte[] one = new byte[rows * 16];
        byte[] other = new byte[rows * 16];
        byte[] sums = new byte[rows * 16];
        for (int i = 0; i < sums.length; i++) {
            one[i] = (byte) i;
            other[i] = (byte) (3 * i);
            sums[i] = (byte) (one[i] + other[i]);
        }
        List<CompletableFuture<ModelInferResponse>> answers = new ArrayList<>();
        ModelInferRequest request = request(
                "sum_int8",
                List.of("ARGS[0]", "ARGS[1]"),
                List.of(
                        new Sample("INT8", List.of((long) rows, 16L), ByteString.copyFrom(one)),
                        new Sample("INT8", List.of((long) rows, 16L), ByteString.copyFrom(other))));
        for (int i = 0; i < 16; i++) {
            answers.add(
                    CompletableFuture.supplyAsync(() -> grpc.service().modelInfer(request), task -> Thread.ofVirtual()
                            .start(task)));
        }
        for (CompletableFuture<ModelInferResponse> answer : answers) {
            assertThat(answer.join().getRawOutputContents(0)).isEqualTo(ByteString.copyFrom(sums));
        }
    }

    @Test
    void shouldKeepTheStatesOfSequencesApart() {
        float first = 0;
        float second = 0;
        for (int i = 1; i <= 4; i++) {
            first += i;
            second += 10 * i;
            assertThat(step(201, i, i == 1, i == 4)).isEqualTo(first);
            assertThat(step(202, 10 * i, i == 1, i == 4)).isEqualTo(second);
        }
    }

    private static float step(long sequence, float value, boolean start, boolean end) {
        ModelInferRequest request =
                request("sequence", List.of("INPUT__0"), List.of(new Sample("FP32", List.of(1L, 1L), bytes(value))))
                        .toBuilder()
                        .putParameters(
                                "sequence_id",
                                InferParameter.newBuilder()
                                        .setInt64Param(sequence)
                                        .build())
                        .putParameters(
                                "sequence_start",
                                InferParameter.newBuilder().setBoolParam(start).build())
                        .putParameters(
                                "sequence_end",
                                InferParameter.newBuilder().setBoolParam(end).build())
                        .build();
        return floats(grpc.service().modelInfer(request).getRawOutputContents(0))[0];
    }

    private static List<Sample> tokens(int tokens, int masks, long token) {
        ByteBuffer numbers = ByteBuffer.allocate(tokens * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < tokens; i++) {
            numbers.putLong(token);
        }
        return List.of(
                new Sample("INT64", List.of(1L, (long) tokens), ByteString.copyFrom(numbers.flip())),
                new Sample("FP32", List.of(1L, (long) masks), bytes(new float[masks])));
    }

    @Test
    void shouldRefuseShapesThatTheModelWouldReadBeyond() {
        assertThat(ask("tokens", tokens(100, 100, 7)).getOutputs(1).getShapeList())
                .containsExactly(1L, 100L);
        assertRefused("tokens", tokens(100, 1, 7), "input 'ARGS[1]' has shape [1,1], expected 100 in dimension 1");
        assertRefused("tokens", tokens(129, 129, 7), "has shape [1,129], expected 1 to 128 in dimension 1");
        assertRefused("tokens", tokens(0, 0, 7), "");
    }

    @Test
    void shouldGiveTheReasonWhenARunFails() {
        assertThatThrownBy(() -> ask("tokens", tokens(10, 10, 50)))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("PyTorch failed: ")
                .hasMessageContaining("index out of bounds");
        assertThat(ask("tokens", tokens(10, 10, 49)).getOutputsCount()).isEqualTo(2);
    }

    private static void assertRefused(String model, List<Sample> inputs, String reason) {
        assertThatThrownBy(() -> ask(model, inputs))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("INVALID_ARGUMENT")
                .hasMessageContaining(reason);
    }

    @Test
    void shouldServeWithoutADescriptionWhereTheOperatorWantsIt() throws IOException {
        assertAnswers("unchecked", "tokens");
    }

    @Test
    void shouldRunInAProcessOfItsOwn() throws IOException {
        assertAnswers("apart", "classifier");
        assertThat(http.metric("gatun_worker_deaths{instance=\"apart_0\",model=\"apart\",reason=\"signal\"}"))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void shouldReadAndWriteTheClientsMemoryWhereverItIs(int offset) throws IOException {
        Sample sample = ExamplePackages.samples("classifier", "inputs").getFirst();
        ByteString expected =
                ExamplePackages.samples("classifier", "outputs").getFirst().bytes();
        try (SharedObject object = SharedObject.create(4096)) {
            object.write(offset, sample.bytes().toByteArray());
            inRegion(object, "classifier", "[4, 16]", offset, sample.bytes().size(), expected.size());
            assertThat(read(object, 1024 + offset, expected.size())).isEqualTo(expected);
        }
    }

    @Test
    void shouldNotWriteToTheMemoryOfAnInput() throws IOException {
        Sample sample = ExamplePackages.samples("in_place", "inputs").getFirst();
        ByteString expected =
                ExamplePackages.samples("in_place", "outputs").getFirst().bytes();
        try (SharedObject object = SharedObject.create(4096)) {
            object.write(0, sample.bytes().toByteArray());
            inRegion(object, "in_place", "[4, 3]", 0, sample.bytes().size(), expected.size());
            assertThat(read(object, 1024, expected.size())).isEqualTo(expected);
            assertThat(read(object, 0, sample.bytes().size())).isEqualTo(sample.bytes());
        }
    }

    private static void inRegion(
            SharedObject object, String model, String shape, int offset, int inputBytes, int outputBytes) {
        assertThat(http.register("rows", object.key(), "0", "4096").statusCode())
                .isEqualTo(200);
        String response = http.post("/v2/models/" + model + "/infer", """
                {"inputs": [{"name": "ARGS[0]", "datatype": "FP32", "shape": %s, "parameters": {
                   "shared_memory_region": "rows", "shared_memory_byte_size": %d, "shared_memory_offset": %d}}],
                 "outputs": [{"name": "RESULT", "parameters": {"shared_memory_region": "rows",
                   "shared_memory_byte_size": %d, "shared_memory_offset": %d}}]}""".formatted(
                                shape, inputBytes, offset, outputBytes, 1024 + offset))
                .body();
        assertThat(response).contains("\"name\":\"RESULT\"").doesNotContain("\"data\"");
        assertThat(http.unregister("rows").statusCode()).isEqualTo(200);
    }

    private static ByteString read(SharedObject object, int offset, int byteSize) throws IOException {
        return ByteString.copyFrom(object.read(offset, byteSize));
    }

    @Test
    void shouldLoadAndUnloadOverAndOver() throws IOException {
        for (int i = 0; i < 5; i++) {
            assertThat(http.post("/v2/repository/models/convolution/unload", "").statusCode())
                    .isEqualTo(200);
            assertThat(http.post("/v2/repository/models/softmax/unload", "").statusCode())
                    .isEqualTo(200);
            assertThat(http.post("/v2/repository/models/softmax/load", "").statusCode())
                    .isEqualTo(200);
            assertThat(http.post("/v2/repository/models/convolution/load", "").statusCode())
                    .isEqualTo(200);
            assertAnswers("convolution", "convolution");
            assertAnswers("softmax", "softmax");
        }
    }

    @Test
    void shouldLetNoRequestBringPrograms() {
        assertThat(http.post(
                                "/v2/repository/models/add_sub/load",
                                "{\"parameters\": {\"config\": \"{\\\"platform\\\": \\\"torch_aoti\\\"}\","
                                        + " \"file:1/model.pt2\": \"AAAA\"}}")
                        .body())
                .contains("they are programs", "with the server's rights", "torch_aoti,allow-uploads=true");
    }

    @Test
    void shouldSayWhyAModelIsNotServed() {
        String index = http.post("/v2/repository/index", "").body();
        assertThat(index)
                .contains("model 'undescribed': its model.pt2 does not say which shapes its inputs must have")
                .contains("model 'without_tensors': its model.pt2 does not say what its inputs are")
                .contains("model 'other_machine': its model.pt2 was compiled for aarch64, this machine is x86_64")
                .contains("model 'other_device': its model.pt2 was compiled for the device 'cuda'")
                .contains("its model.pt2 was compiled for aarch64, this machine is x86_64; compile it on a machine")
                .contains("undefined symbol: aoti_torch_empty_stridex. A function that is not there is one of another")
                .contains("compressed to less than 1/32 of its 67108864 bytes")
                .contains("its model.pt2 has no compiled library; package it without aot_inductor.package_cpp_only")
                .contains("model 'no_model': model.pt2 has no model of AOTInductor")
                .contains("has 100 bytes of weights, its library expects 2816; it may be damaged")
                .contains("model 'cut': model.pt2 is no PyTorch package, or was cut short")
                .contains("model 'no_weights': its model.pt2 was made without its weights")
                .contains("model 'other_weights': its model.pt2 has a weight 'hidden.weight' of shape [32,16]")
                .contains("it has no tensor 'ARG[0]'; it has ARGS[0], ARGS[1], or by their places INPUT__0 to INPUT__1")
                .contains("configuration expects datatype TYPE_INT16 for input 'ARGS[0]', model provides TYPE_INT8")
                .contains("max_batch_size is 65, input 'ARGS[0]' of the model takes at most 64 rows");
    }

    @Test
    void shouldPassTheCheck() {
        ServerProcess check =
                ServerProcess.run("check", ExamplePackages.ALL.models().toString());
        assertThat(check.awaitExit(Duration.ZERO)).as(check.log()).isZero();
        assertThat(check.output())
                .contains("add_sub: good, version 1")
                .contains("max_batch_size: 4", "name: \"RESULT[1]\"")
                .containsPattern("threads of an operation: [0-9]+, a share of the cores");
    }

    @Test
    void shouldSayHowToInstallTheLibrary(@TempDir Path cache) throws InterruptedException {
        try (ServerProcess bare = ServerProcess.launch(
                        ExamplePackages.ALL.models(),
                        Map.of("GATUN_CACHE", cache.toString()),
                        "--exit-on-error=false");
                HttpApi api = new HttpApi(bare)) {
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("PyTorch is not installed; install it with './gatun install pytorch'");
        }
    }
}
