// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.it.harness.StreamClient;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The example {@code simple_ensemble} and the response cache, in the real server. */
@Timeout(120)
class EnsembleIT {
    private static final String ECHO = """
            backend: "identity"
            input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] } ]
            output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ -1 ] } ]
            """;
    private static final String REPEAT_ECHO = """
            platform: "ensemble"
            input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] }, { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
                    { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
            output [ { name: "ECHO" data_type: TYPE_INT32 dims: [ 1 ] } ]
            ensemble_scheduling { step [
              { model_name: "repeat_int32" model_version: -1 input_map { key: "IN" value: "IN" }
                input_map { key: "DELAY" value: "DELAY" } input_map { key: "WAIT" value: "WAIT" }
                output_map { key: "OUT" value: "each" } },
              { model_name: "echo" model_version: -1 input_map { key: "INPUT0" value: "each" }
                output_map { key: "OUTPUT0" value: "ECHO" } } ] }
            """;

    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(EnsembleIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    private static ServerProcess start() throws Exception {
        Path examples = ServerProcess.exampleModels();
        for (String name : new String[] {"simple", "simple_ensemble"}) {
            Files.createDirectories(repository.resolve(name).resolve("1"));
            Files.copy(
                    examples.resolve(name).resolve("config.pbtxt"),
                    repository.resolve(name).resolve("config.pbtxt"));
        }
        Path model = examples.resolve("simple/1/model.onnx");
        Files.copy(model, repository.resolve("simple/1/model.onnx"));
        Files.createDirectories(repository.resolve("remembered/1"));
        Files.copy(model, repository.resolve("remembered/1/model.onnx"));
        Files.writeString(
                repository.resolve("remembered/config.pbtxt"),
                Files.readString(examples.resolve("simple/config.pbtxt")).replace("name: \"simple\"", "")
                        + " response_cache { enable: true }");
        Files.createDirectories(repository.resolve("remembered_ensemble/1"));
        Files.writeString(
                repository.resolve("remembered_ensemble/config.pbtxt"),
                Files.readString(examples.resolve("simple_ensemble/config.pbtxt"))
                                .replace("name: \"simple_ensemble\"", "")
                        + " response_cache { enable: true }");
        Files.createDirectories(repository.resolve("repeat_int32/1"));
        Files.copy(examples.resolve("repeat_int32/config.pbtxt"), repository.resolve("repeat_int32/config.pbtxt"));
        Files.createDirectories(repository.resolve("echo/1"));
        Files.writeString(repository.resolve("echo/config.pbtxt"), ECHO);
        Files.createDirectories(repository.resolve("repeat_echo/1"));
        Files.writeString(repository.resolve("repeat_echo/config.pbtxt"), REPEAT_ECHO);
        return ServerProcess.launch(
                repository,
                "--cache-config=local,size=1048576",
                "--model-control-mode=explicit",
                "--load-model=simple_ensemble",
                "--load-model=repeat_echo",
                "--load-model=remembered",
                "--load-model=remembered_ensemble",
                "--load-model=simple",
                "--load-model=echo",
                "--load-model=repeat_int32");
    }

    private static int[] twice(int[] values) {
        return IntStream.of(values).map(value -> 2 * value).toArray();
    }

    private static ModelInferResponse ask(String model) {
        return GRPCInferenceServiceGrpc.newBlockingStub(grpc.channel())
                .modelInfer(SimpleModel.grpc().toBuilder()
                        .setModelName(model)
                        .setId("r1")
                        .build());
    }

    private static int[] ints(ByteString bytes) {
        IntBuffer buffer =
                bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
        int[] values = new int[buffer.remaining()];
        buffer.get(values);
        return values;
    }

    @Test
    void shouldAnswerOverHttpAndGrpcAndCountTheMembersToo() {
        double before = http.metric("nv_inference_count{model=\"simple\"");
        HttpResponse<String> json = http.post("/v2/models/simple_ensemble/infer", SimpleModel.json());
        assertThat(json.statusCode()).as(json.body()).isEqualTo(200);
        assertThat(json.body())
                .contains(
                        "\"model_name\":\"simple_ensemble\"",
                        "\"parameters\":{\"sequence_id\":0,\"sequence_start\":false,\"sequence_end\":false}",
                        SimpleModel.jsonData(twice(SimpleModel.LEFT)),
                        SimpleModel.jsonData(twice(SimpleModel.RIGHT)));
        ModelInferResponse response = ask("simple_ensemble");
        assertThat(response.getId()).isEqualTo("r1");
        assertThat(response.getOutputs(1).getName()).isEqualTo("TWICE1");
        assertThat(response.getOutputs(1).getShapeList()).containsExactly(1L, 16L);
        assertThat(ints(response.getRawOutputContents(0))).isEqualTo(twice(SimpleModel.LEFT));
        assertThat(ints(response.getRawOutputContents(1))).isEqualTo(twice(SimpleModel.RIGHT));
        assertThat(http.metric("nv_inference_count{model=\"simple\"") - before)
                .as("two requests of two steps")
                .isEqualTo(4);
        assertThat(http.metric("nv_inference_request_success{model=\"simple_ensemble\""))
                .isGreaterThanOrEqualTo(2);
    }

    @Test
    void shouldSayWhatIsWrongAsForAnyModel() {
        HttpResponse<String> answer = http.post(
                "/v2/models/simple_ensemble/infer",
                SimpleModel.json().replace("INPUT1", "INPUT7").replace("\"INT32\"", "\"INT32\""));
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("unexpected inference input 'INPUT7' for model 'simple_ensemble'");
    }

    @Test
    void shouldFollowMembersThatAreUnloadedAndLoadedAgain() {
        assertThat(http.post("/v2/repository/models/simple/unload", "{}").statusCode())
                .isEqualTo(200);
        HttpResponse<String> refused = http.post("/v2/models/simple_ensemble/infer", SimpleModel.json());
        assertThat(refused.statusCode()).as(refused.body()).isGreaterThanOrEqualTo(400);
        assertThat(http.post("/v2/repository/index", "{}").body())
                .contains("ensemble 'simple_ensemble' depends on 'simple' which has no loaded version.");
        assertThat(http.get("/v2/models/simple_ensemble/ready").statusCode()).isNotEqualTo(200);
        assertThat(http.post("/v2/repository/models/simple/load", "{}").statusCode())
                .isEqualTo(200);
        assertThat(http.get("/v2/models/simple_ensemble/ready").statusCode()).isEqualTo(200);
        assertThat(ints(ask("simple_ensemble").getRawOutputContents(0))).isEqualTo(twice(SimpleModel.LEFT));
    }

    @Test
    void shouldAnswerFromTheCacheOverEveryProtocol() {
        assertThat(ints(ask("remembered").getRawOutputContents(0))).isEqualTo(SimpleModel.SUM);
        HttpResponse<String> json = http.post("/v2/models/remembered/infer", SimpleModel.json());
        assertThat(json.body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM), SimpleModel.jsonData(SimpleModel.DIFFERENCE));
        assertThat(ints(ask("remembered").getRawOutputContents(1))).isEqualTo(SimpleModel.DIFFERENCE);
        assertThat(http.metric("nv_inference_request_success{model=\"remembered\""))
                .isEqualTo(3);
        assertThat(http.metric("nv_inference_exec_count{model=\"remembered\""))
                .as("runs of the engine")
                .isEqualTo(1);
        assertThat(http.metric("nv_cache_num_hits_per_model{model=\"remembered\""))
                .isEqualTo(2);
        assertThat(http.metric("nv_cache_num_misses_per_model{model=\"remembered\""))
                .isEqualTo(1);
        assertThat(http.get("/v2/models/remembered/stats").body()).contains("\"cache_hit\":{\"count\":2,");
    }

    @Test
    void shouldForgetTheAnswersOfAnEnsembleWhenItsMemberIsLoadedAnew() throws Exception {
        String misses = "nv_cache_num_misses_per_model{model=\"remembered_ensemble\"";
        String hits = "nv_cache_num_hits_per_model{model=\"remembered_ensemble\"";
        assertThat(ints(ask("remembered_ensemble").getRawOutputContents(0))).isEqualTo(twice(SimpleModel.LEFT));
        double missesBefore = http.metric(misses);
        double hitsBefore = http.metric(hits);
        assertThat(ints(ask("remembered_ensemble").getRawOutputContents(1))).isEqualTo(twice(SimpleModel.RIGHT));
        assertThat(http.metric(hits) - hitsBefore).isEqualTo(1);

        Path model = repository.resolve("simple/1/model.onnx");
        Files.setLastModifiedTime(
                model, FileTime.fromMillis(Files.getLastModifiedTime(model).toMillis() + 2000));
        assertThat(http.post("/v2/repository/models/simple/load", "{}").statusCode())
                .isEqualTo(200);
        assertThat(ints(ask("remembered_ensemble").getRawOutputContents(0))).isEqualTo(twice(SimpleModel.LEFT));
        assertThat(http.metric(misses) - missesBefore).as("asked anew").isEqualTo(1);
        assertThat(http.metric(hits) - hitsBefore).isEqualTo(1);
    }

    @Test
    void shouldAnswerOncePerResponseOfADecoupledMember() throws Exception {
        ModelInferRequest request = ModelInferRequest.newBuilder()
                .setModelName("repeat_echo")
                .addInputs(input("IN", "INT32", 3))
                .addInputs(input("DELAY", "UINT32", 3))
                .addInputs(input("WAIT", "UINT32", 1))
                .addRawInputContents(bytes(4, 5, 6))
                .addRawInputContents(bytes(0, 0, 0))
                .addRawInputContents(bytes(0))
                .build();
        StreamClient stream = StreamClient.open(grpc);
        stream.send(request);
        stream.complete();
        assertThat(stream.end().isOk()).isTrue();
        List<Integer> responses = stream.rest().stream()
                .flatMap(answer -> answer.getRawOutputContentsList().stream())
                .map(raw -> ints(raw)[0])
                .toList();
        assertThat(responses).containsExactly(4, 5, 6);
    }

    private static ModelInferRequest.InferInputTensor.Builder input(String name, String datatype, long size) {
        return ModelInferRequest.InferInputTensor.newBuilder()
                .setName(name)
                .setDatatype(datatype)
                .addShape(size);
    }

    private static ByteString bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            buffer.putInt(value);
        }
        return ByteString.copyFrom(buffer.flip());
    }
}
