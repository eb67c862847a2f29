package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.protocol.inference.GRPCInferenceServiceGrpc;
import gatun.protocol.inference.ModelInferResponse;
import java.net.http.HttpResponse;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example {@code simple_ensemble} and the response cache, in the real server. */
@Timeout(120)
class EnsembleIT {
    @TempDir
    static Path repository;

    private static ServerProcess server;
    private static HttpApi http;
    private static GrpcClient grpc;

    @BeforeAll
    static void start() throws Exception {
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
        server = ServerProcess.launch(
                repository,
                "--cache-config=local,size=1048576",
                "--model-control-mode=explicit",
                "--load-model=simple_ensemble",
                "--load-model=remembered",
                "--load-model=simple");
        http = new HttpApi(server);
        grpc = GrpcClient.tcp(server.grpcPort());
    }

    @AfterAll
    static void stop() throws Exception {
        grpc.close();
        http.close();
        server.close();
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
}
