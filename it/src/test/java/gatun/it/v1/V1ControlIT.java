// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.memory.cuda.CudaDevices;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests of v1's clients other than inferences, to a server whose models they load. */
@Timeout(120)
class V1ControlIT {
    private static final int READY = 1;
    private static final int UNAVAILABLE = 2;

    /** The text that refuses zeros as a handle of CUDA: on a machine with a GPU, or without. */
    private static final String NO_CUDA_MEMORY = CudaDevices.find().count() > 0
            ? "failed to register shared memory"
            : "failed to register CUDA shared memory";

    @TempDir
    static Path repository;

    private static ModelRepositoryFolder models;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    @AutoClose
    private static GrpcClient channel;

    private static V1Client.Grpc grpc;

    @BeforeAll
    static void start() throws Exception {
        models = new ModelRepositoryFolder(repository);
        models.simple("first", "", 1);
        models.simple("second", "version_policy { all { } }", 1, 2);
        server = ServerProcess.launch(
                repository,
                "--allow-client-shm",
                "--id=stranded:7",
                "--model-control-mode=explicit",
                "--load-model=first");
        http = new HttpApi(server);
        channel = GrpcClient.tcp(server.grpcPort());
        grpc = new V1Client.Grpc(channel.channel());
    }

    private static V1Message binary(String path) {
        HttpResponse<byte[]> response =
                http.send(HttpRequest.newBuilder(http.uri(path)), HttpResponse.BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/octet-stream");
        return V1Message.parse(response.body());
    }

    /** The outcome of a call: its code, and its text where it failed. */
    private static String outcome(V1Message response) {
        V1Message status = response.message(1);
        assertThat(status.text(3)).as("server").isEqualTo("stranded:7");
        assertThat(status.number(4)).as("number of the request").isPositive();
        String code = V1Client.CODES.get((int) status.number(1));
        return code.equals("SUCCESS") ? code : code + " " + status.text(2);
    }

    @Test
    void shouldTellTheServersStateInEveryForm() {
        V1Message status = binary("/api/status?format=binary");
        assertThat(status.text(1)).isEqualTo("stranded:7");
        assertThat(status.text(2)).as("version").isNotEmpty();
        assertThat(status.number(7)).as("SERVER_READY").isEqualTo(2);
        assertThat(status.number(3)).as("uptime").isPositive();
        V1Message model = status.entry(4, "first");
        V1Message config = model.message(1);
        assertThat(config.text(1)).isEqualTo("first");
        assertThat(config.text(2)).isEqualTo("onnxruntime_onnx");
        assertThat(config.number(4)).as("max_batch_size").isEqualTo(8);
        assertThat(config.messages(5)).extracting(input -> input.text(1)).containsExactly("INPUT0", "INPUT1");
        assertThat(config.has(17)).as("backend, which v1 does not know").isFalse();
        assertThat(model.entry(2, 1L).number(1)).isEqualTo(READY);

        HttpResponse<String> text = http.get("/api/status/first");
        assertThat(text.headers().firstValue("NV-Status").orElseThrow())
                .matches("code: SUCCESS server_id: \"stranded:7\" request_id: \\d+");
        assertThat(text.body())
                .startsWith("id: \"stranded:7\"\n")
                .contains("model_status {\n  key: \"first\"\n")
                .contains("ready_state: SERVER_READY\n")
                .doesNotContain("second");
        for (HttpRequest.Builder asksForJson : List.of(
                HttpRequest.newBuilder(http.uri("/api/status?format=json")),
                HttpRequest.newBuilder(http.uri("/api/status")).header("Accept", "application/json"))) {
            assertThat(http.send(asksForJson, HttpResponse.BodyHandlers.ofString())
                            .body())
                    .startsWith("{\"id\":\"stranded:7\"")
                    .contains("\"ready_state\":\"SERVER_READY\"", "\"max_batch_size\":8");
        }
        V1Message answer = grpc.call("Status", new V1Message().text(1, "first"));
        assertThat(outcome(answer)).isEqualTo("SUCCESS");
        assertThat(answer.message(2).entry(4, "first").message(1).text(1)).isEqualTo("first");
    }

    @Test
    void shouldSayThatThereIsNoSuchModel() {
        String expected = "no status available for unknown model 'nosuch'";
        HttpResponse<String> response = http.get("/api/status/nosuch");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEmpty();
        assertThat(response.headers().firstValue("NV-Status").orElseThrow())
                .startsWith("code: INVALID_ARG msg: \"" + expected.replace("'", "\\'") + "\" server_id:");
        V1Message answer = grpc.call("Status", new V1Message().text(1, "nosuch"));
        assertThat(outcome(answer)).isEqualTo("INVALID_ARG " + expected);
        assertThat(answer.has(2)).isFalse();
    }

    @Test
    void shouldCountInferencesByTheBatchSizeOfTheRequests() {
        V1Client client = new V1Client.Http(http);
        for (int batch : new int[] {1, 3, 3}) {
            byte[] rows = new byte[64 * batch];
            client.infer(
                            "first",
                            V1Client.LATEST,
                            V1Header.batch(batch).input("INPUT0", rows).input("INPUT1", rows))
                    .succeeded();
        }
        client.infer("first", V1Client.LATEST, V1Header.batch(1));
        V1Message version = grpc.call("Status", new V1Message().text(1, "first"))
                .message(2)
                .entry(4, "first")
                .entry(2, 1L);
        assertThat(version.number(3)).as("executions").isEqualTo(3);
        assertThat(version.number(4)).as("inferences").isEqualTo(7);
        assertThat(version.number(6)).as("last inference").isPositive();
        V1Message ofThree = version.entry(2, 3L);
        assertThat(ofThree.message(1).number(1)).as("successes").isEqualTo(2);
        assertThat(ofThree.message(1).number(2)).as("their time").isPositive();
        assertThat(ofThree.message(6).number(1)).as("computed").isEqualTo(2);
        assertThat(version.entry(2, 1L).message(1).number(1)).isEqualTo(1);
    }

    @Test
    void shouldTellWhetherTheServerIsWell() {
        for (String mode : List.of("live", "ready")) {
            HttpResponse<String> response = http.get("/api/health/" + mode);
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).isEmpty();
            assertThat(response.headers().firstValue("NV-Status").orElseThrow()).startsWith("code: SUCCESS ");
            V1Message answer = grpc.call("Health", new V1Message().text(1, mode));
            assertThat(outcome(answer)).isEqualTo("SUCCESS");
            assertThat(answer.number(2)).as(mode).isEqualTo(1);
        }
        assertThat(outcome(grpc.call("Health", new V1Message().text(1, "fine"))))
                .isEqualTo("UNKNOWN unknown health mode 'fine'");
        V1Message status = binary("/api/status?format=binary");
        assertThat(status.message(8).message(1).number(1)).as("counted").isGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldLoadAndUnloadModelsOverBothTransports() throws Exception {
        models.simple("mine", "", 1);
        assertThat(http.post("/api/modelcontrol/load/mine", "").statusCode()).isEqualTo(200);
        assertThat(state("mine")).isEqualTo(READY);
        assertThat(outcome(control("mine", 0))).isEqualTo("SUCCESS");
        V1Client.Response unloaded = new V1Client.Http(http).infer("mine", V1Client.LATEST, V1Header.batch(1));
        assertThat(unloaded.code()).isEqualTo("UNAVAILABLE");
        assertThat(unloaded.text()).isEqualTo("Request for unknown model: 'mine' has no available versions");
        assertThat(outcome(control("mine", 1))).isEqualTo("SUCCESS");
        assertThat(state("mine")).isEqualTo(READY);
        assertThat(http.post("/api/modelcontrol/unload/mine", "").statusCode()).isEqualTo(200);
    }

    private static V1Message control(String model, int type) {
        return grpc.call("ModelControl", new V1Message().text(1, model).number(2, type));
    }

    private static long state(String model) {
        return binary("/api/status/" + model + "?format=binary")
                .entry(4, model)
                .entry(2, 1L)
                .number(1);
    }

    @Test
    void shouldSayWhyAModelDoesNotLoad() throws Exception {
        assertThat(outcome(control("nosuch", 1)))
                .startsWith("INTERNAL failed to load 'nosuch', failed to poll from model repository");
        models.config(folder("empty"), ModelRepositoryFolder.simpleConfig());
        assertThat(outcome(control("empty", 1))).isEqualTo("INTERNAL failed to load 'empty', no version is available");
        models.config(folder("broken", "1", "2"), ModelRepositoryFolder.simpleConfig() + "version_policy { all { } }");
        HttpResponse<String> response = http.post("/api/modelcontrol/load/broken", "");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("NV-Status").orElseThrow())
                .startsWith(
                        "code: INTERNAL msg: \"failed to load \\'broken\\', versions that are not available: 1,2\"");
        assertThat(state("broken")).isEqualTo(UNAVAILABLE);
        assertThat(http.get("/api/status/broken").body()).contains("ready_state_reason {");
        assertThat(outcome(control("first", 7))).isEqualTo("UNKNOWN unknown action type '7'");
    }

    private static String folder(String model, String... versions) throws Exception {
        Files.createDirectories(repository.resolve(model));
        for (String version : versions) {
            Files.createDirectories(repository.resolve(model).resolve(version));
        }
        return model;
    }

    @Test
    void shouldListTheModelsOfTheRepository() {
        assertThat(binary("/api/repository/index?format=binary").messages(1))
                .extracting(entry -> entry.text(1))
                .contains("first", "second");
        assertThat(http.get("/api/repository/index").body()).contains("models {\n  name: \"second\"\n}\n");
        V1Message answer = grpc.call("Repository", new V1Message().number(1, 1));
        assertThat(outcome(answer)).isEqualTo("SUCCESS");
        assertThat(answer.message(2).messages(1))
                .extracting(entry -> entry.text(1))
                .contains("first", "second");
        assertThat(outcome(grpc.call("Repository", new V1Message())))
                .isEqualTo("UNKNOWN unknown repository request type");
    }

    @Test
    void shouldRegisterSharedMemoryOverBothTransports() throws Exception {
        try (SharedObject object = SharedObject.create(4096)) {
            String path = "/api/sharedmemorycontrol/";
            assertThat(http.post(path + "register/one/" + object.key() + "/64/128", "")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(outcome(register(
                            "two", new V1Message().text(1, object.key()).number(2, 256), 2, 512)))
                    .isEqualTo("SUCCESS");
            assertThat(outcome(register("two", new V1Message().text(1, object.key()), 2, 64)))
                    .isEqualTo("ALREADY_EXISTS shared memory region 'two' already in manager");

            List<V1Message> regions = binary(path + "status?format=binary").messages(2);
            assertThat(regions).extracting(region -> region.text(1)).containsExactly("one", "two");
            assertThat(regions.getFirst().message(2).text(1)).isEqualTo(object.key());
            assertThat(regions.getFirst().message(2).number(2)).as("offset").isEqualTo(64);
            assertThat(regions.getFirst().number(5)).as("size").isEqualTo(128);
            assertThat(http.get(path + "status").body()).startsWith("shared_memory_region {\n  name: \"one\"\n");
            V1Message status = grpc.call("SharedMemoryControl", new V1Message().message(4, new V1Message()));
            assertThat(status.message(2).messages(1))
                    .as("in the field of this message")
                    .extracting(region -> region.text(1))
                    .containsExactly("one", "two");

            assertThat(status.message(2).messages(2))
                    .as("where clients in C++ look")
                    .extracting(region -> region.text(1))
                    .containsExactly("one", "two");

            assertThat(http.post(path + "unregister/all", "").statusCode())
                    .as("a region that is called so, of which there is none")
                    .isEqualTo(200);
            assertThat(binary(path + "status?format=binary").messages(2)).hasSize(2);
            assertThat(outcome(grpc.call(
                            "SharedMemoryControl", new V1Message().message(2, new V1Message().text(1, "one")))))
                    .isEqualTo("SUCCESS");
            assertThat(binary(path + "status?format=binary").messages(2)).hasSize(1);
            assertThat(http.post(path + "unregisterall", "").statusCode()).isEqualTo(200);
            assertThat(outcome(grpc.call("SharedMemoryControl", new V1Message().message(3, new V1Message()))))
                    .isEqualTo("SUCCESS");
            assertThat(binary(path + "status?format=binary").messages(2)).isEmpty();
        }
    }

    private static V1Message register(String name, V1Message identifier, int field, long byteSize) {
        V1Message register =
                new V1Message().text(1, name).message(field, identifier).number(4, byteSize);
        return grpc.call("SharedMemoryControl", new V1Message().message(1, register));
    }

    @Test
    void shouldSayWhySharedMemoryIsNotRegistered() {
        assertThat(outcome(register("a", new V1Message().text(1, "/gatun-it-nosuch"), 2, 64)))
                .isEqualTo("INTERNAL Unable to open shared memory region: '/gatun-it-nosuch'");
        assertThat(outcome(register("a", new V1Message().bytes(1, new byte[64]), 3, 64)))
                .startsWith("INVALID_ARG " + NO_CUDA_MEMORY + " region: ");
        assertThat(outcome(grpc.call("SharedMemoryControl", new V1Message().message(1, new V1Message().text(1, "a")))))
                .isEqualTo("INVALID_ARG failed to register shared memory region: 'a', improperly formed request.");
        assertThat(outcome(grpc.call("SharedMemoryControl", new V1Message())))
                .isEqualTo("UNKNOWN unknown sharedmemorycontrol request type");
        HttpResponse<String> cuda = http.send(
                HttpRequest.newBuilder(http.uri("/api/sharedmemorycontrol/cudaregister/a/64/0"))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(
                                "h".repeat(64).getBytes(StandardCharsets.UTF_8))),
                HttpResponse.BodyHandlers.ofString());
        assertThat(cuda.headers().firstValue("NV-Status").orElseThrow())
                .startsWith("code: INVALID_ARG msg: \"" + NO_CUDA_MEMORY + " region: ");
        assertThat(http.post("/api/sharedmemorycontrol/register/a//key/0/99999999999999999999999", "")
                        .headers()
                        .firstValue("NV-Status")
                        .orElseThrow())
                .contains("is too large");
    }
}
