// SPDX-License-Identifier: Apache-2.0
package gatun.server.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.harness.CuttingProxy;
import gatun.server.harness.HttpApi;
import gatun.server.harness.S3Server;
import gatun.server.harness.ServerProcess;
import gatun.server.harness.SimpleModel;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models in an object store, with a real server of S3's protocol that checks signatures. */
class ObjectStoreIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String INFER = "/v2/models/simple/infer";

    @TempDir
    static Path shared;

    private static S3Server s3;

    @TempDir
    Path folder;

    @BeforeAll
    static void startStore() throws IOException, InterruptedException {
        s3 = S3Server.start(shared);
    }

    @AfterAll
    static void stopStore() {
        s3.close();
    }

    private List<String> flags(String url, String... more) {
        List<String> flags = new ArrayList<>(List.of(
                "--model-repository=" + url, "--store-cache-dir=" + folder.resolve("cache"), "--store-timeout-secs=5"));
        flags.addAll(List.of(more));
        return flags;
    }

    @Test
    void shouldFollowTheStoreAndGoOnWithoutIt() throws IOException, InterruptedException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        try (S3Server store = S3Server.start(folder)) {
            store.putAll("models/simple", simple);
            List<String> flags = flags(
                    store.url("models"),
                    "--model-control-mode=poll",
                    "--repository-poll-secs=1",
                    "--store-timeout-secs=1");
            try (ServerProcess server = ServerProcess.launchList(S3Server.CREDENTIALS, flags.toArray(String[]::new));
                    HttpApi api = new HttpApi(server)) {
                requireAnswer(api);
                store.put("models/simple/2/model.onnx", simple.resolve("1/model.onnx"));
                Await.until(
                        "version 2",
                        () -> api.get("/v2/models/simple/versions/2/ready").statusCode() == 200);
                store.stop();
                Await.until("the poll without a store", () -> server.log().contains("Models are left as they are"));
                requireAnswer(api);
                // As nothing should end; the next start finds a cache that is whole.
                server.handle().destroyForcibly();
                server.handle().onExit().join();
            }
            try (ServerProcess server = ServerProcess.launchList(S3Server.CREDENTIALS, flags.toArray(String[]::new));
                    HttpApi api = new HttpApi(server)) {
                requireAnswer(api);
                assertThat(api.get("/v2/models/simple/versions/2/ready").statusCode())
                        .isEqualTo(200);
                assertThat(server.log())
                        .contains("cannot be reached; its 1 models")
                        .contains("are taken from the cache");
            }
        }
    }

    @Test
    void shouldFetchSingleModelsWhenClientsLoadThem() throws IOException, InterruptedException {
        s3.putAll("named/simple", ServerProcess.exampleModels().resolve("simple"));
        s3.putAll("named/simple_ensemble", ServerProcess.exampleModels().resolve("simple_ensemble"));
        s3.putAll("named/softmax", ServerProcess.exampleModels().resolve("softmax"));
        Files.createDirectories(folder.resolve("aws"));
        Path credentials = Files.writeString(folder.resolve("credentials"), """
                {"s3": {"": {"key_id": "wrong", "secret_key": "wrong"},
                        "%s": {"key_id": "%s", "secret_key": "%s", "region": "us-east-1"}}}
                """.formatted(
                        s3.url("named"),
                        S3Server.CREDENTIALS.get("AWS_ACCESS_KEY_ID"),
                        S3Server.CREDENTIALS.get("AWS_SECRET_ACCESS_KEY")));
        // Beside a repository that is not there, which costs the models of others nothing.
        List<String> flags = flags(
                s3.url("named"),
                "--model-control-mode=explicit",
                "--model-repository=" + folder.resolve("missing.zip").toUri(),
                "--exit-on-error=false");
        try (ServerProcess server = ServerProcess.launchList(
                                Map.of("TRITON_CLOUD_CREDENTIAL_PATH", credentials.toString()),
                                flags.toArray(String[]::new))
                        .expectErrors();
                HttpApi api = new HttpApi(server)) {
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("\"simple\"", "\"simple_ensemble\"", "\"softmax\"");
            assertThat(api.post("/v2/repository/models/none/load", "").statusCode())
                    .isNotEqualTo(200);

            // Which asks simple.
            HttpResponse<String> loaded = api.post("/v2/repository/models/simple_ensemble/load", "");

            assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
            requireAnswer(api);
        }
    }

    @Test
    void shouldPullOverConnectionsThatBreak() throws IOException, InterruptedException {
        byte[] weights = new byte[3 << 20];
        new Random(1).nextBytes(weights);
        Path file = Files.write(folder.resolve("weights"), weights);
        s3.put("large/model/1/weights", file);
        s3.putAll("large/model", ServerProcess.exampleModels().resolve("simple"));
        try (CuttingProxy proxy = CuttingProxy.start(s3.port(), 1_200_000)) {
            String url = s3.url("large").replace(":" + s3.port() + "/", ":" + proxy.port() + "/");
            Path target = folder.resolve("pulled");

            ServerProcess pull = ServerProcess.start(
                    List.of("pull", url, target.toString(), "--store-timeout-secs=5"), S3Server.CREDENTIALS);

            assertThat(pull.awaitExit(LIMIT)).as(pull::transcript).isZero();
            assertThat(target.resolve("model/1/weights")).hasBinaryContent(weights);
            assertThat(target.resolve("model/config.pbtxt")).exists();
            assertThat(proxy.cuts()).isPositive();
        }
    }

    @Test
    void shouldSayWhatIsWrongWithoutSecrets() {
        Map<String, String> wrong = new HashMap<>(S3Server.CREDENTIALS);
        wrong.put("AWS_SECRET_ACCESS_KEY", "an-other-secret-key");
        List<String> arguments =
                new ArrayList<>(List.of("serve", "--http-port=0", "--grpc-port=0", "--metrics-port=0"));
        arguments.addAll(flags(s3.url("models")));

        ServerProcess server = ServerProcess.start(arguments, wrong);

        assertThat(server.awaitExit(LIMIT)).isEqualTo(1);
        assertThat(server.transcript())
                .contains("is refused: check the credentials")
                .contains("SignatureDoesNotMatch")
                .doesNotContain("an-other-secret-key");
    }

    @Test
    void shouldServeTheVersionsOfAModelInAnArchive() throws IOException, InterruptedException {
        Path archive = folder.resolve("simple.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(archive))) {
            for (String name : List.of("config.pbtxt", "1/model.onnx")) {
                out.putNextEntry(new ZipEntry(name));
                Files.copy(ServerProcess.exampleModels().resolve("simple").resolve(name), out);
            }
        }
        try (ServerProcess server = ServerProcess.launchList(
                        "--model_name=simple",
                        "--model_base_path=" + archive.toUri(),
                        "--store-cache-dir=" + folder.resolve("cache"));
                HttpApi api = new HttpApi(server)) {
            requireAnswer(api);
        }
    }

    private static void requireAnswer(HttpApi api) {
        HttpResponse<String> response = api.post(INFER, SimpleModel.json());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
    }
}
