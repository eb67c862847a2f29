// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import gatun.it.harness.CuttingProxy;
import gatun.it.harness.HttpApi;
import gatun.it.harness.S3Server;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.Certificates;
import gatun.testing.Certificates.Identity;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models in an object store, with a real server of S3's protocol that checks signatures. */
class ObjectStoreIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String INFER = "/v2/models/simple/infer";

    @TempDir
    static Path shared;

    @AutoClose
    private static S3Server s3;

    @TempDir
    Path folder;

    @BeforeAll
    static void startStore() throws IOException, InterruptedException {
        s3 = S3Server.start(shared);
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
    void shouldFollowAStoreWhileAnotherHangs() throws IOException, InterruptedException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        s3.putAll("hangs/softmax", ServerProcess.exampleModels().resolve("softmax"));
        s3.putAll("changes/simple", simple);
        try (CuttingProxy proxy = CuttingProxy.start(s3.port(), Long.MAX_VALUE)) {
            // Waited for longer than this test waits.
            List<String> flags = flags(
                    through(proxy, s3.url("hangs")),
                    "--model-repository=" + s3.url("changes"),
                    "--model-control-mode=poll",
                    "--repository-poll-secs=1",
                    "--store-timeout-secs=300");
            try (ServerProcess server = ServerProcess.launchList(S3Server.CREDENTIALS, flags.toArray(String[]::new));
                    HttpApi api = new HttpApi(server)) {
                proxy.hang();
                Await.opened(proxy.swallowed());

                s3.put("changes/simple/2/model.onnx", simple.resolve("1/model.onnx"));

                Await.until(
                        "version 2",
                        () -> api.get("/v2/models/simple/versions/2/ready").statusCode() == 200);
                assertThat(api.get("/v2/models/softmax/ready").statusCode()).isEqualTo(200);
            }
        }
    }

    private static String through(CuttingProxy proxy, String url) {
        return url.replace(":" + s3.port() + "/", ":" + proxy.port() + "/");
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
            String url = through(proxy, s3.url("large"));
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

    /** An archive of the model {@code simple}, with these versions. */
    private Path archive(int... versions) throws IOException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        Path archive = folder.resolve("simple.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(archive))) {
            out.putNextEntry(new ZipEntry("config.pbtxt"));
            Files.copy(simple.resolve("config.pbtxt"), out);
            for (int version : versions) {
                out.putNextEntry(new ZipEntry(version + "/model.onnx"));
                Files.copy(simple.resolve("1/model.onnx"), out);
            }
        }
        return archive;
    }

    @Test
    void shouldFollowAnArchiveOverTlsFromWhomItTrusts() throws IOException, InterruptedException {
        Certificates certificates = new Certificates(folder);
        Identity trusted = certificates.identity("trusted");
        Identity other = certificates.identity("other");
        AtomicReference<Path> served = new AtomicReference<>(archive(1));
        HttpsServer site = site(0, trusted, served);
        int port = site.getAddress().getPort();
        List<String> flags = flags(
                "https://localhost:" + port + "/simple.zip", "--model-control-mode=poll", "--repository-poll-secs=1");
        Map<String, String> environment = Map.of(
                "GATUN_JAVA_OPTS",
                "-Djavax.net.ssl.trustStore=" + trusted.store() + " -Djavax.net.ssl.trustStorePassword="
                        + Certificates.PASSWORD);
        try (ServerProcess server = ServerProcess.launchList(environment, flags.toArray(String[]::new));
                HttpApi api = new HttpApi(server)) {
            requireAnswer(api);

            site.stop(0);
            served.set(archive(1, 2));
            site = site(port, other, served);
            Await.until("a certificate that is not trusted", () -> server.log()
                    .contains("localhost has a certificate that is not trusted"));
            requireAnswer(api);
            assertThat(api.get("/v2/models/simple/versions/2/ready").statusCode())
                    .isNotEqualTo(200);

            site.stop(0);
            site = site(port, trusted, served);
            Await.until(
                    "version 2",
                    () -> api.get("/v2/models/simple/versions/2/ready").statusCode() == 200);
        } finally {
            site.stop(0);
        }
    }

    /** A server of one file over TLS, with its length as the ETag. */
    private static HttpsServer site(int port, Identity identity, AtomicReference<Path> served) throws IOException {
        HttpsServer site = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        site.setHttpsConfigurator(
                new HttpsConfigurator(Certificates.client(identity.certificate(), Optional.of(identity))));
        site.createContext("/simple.zip", exchange -> {
            byte[] bytes = Files.readAllBytes(served.get());
            exchange.getResponseHeaders().set("ETag", "\"" + bytes.length + "\"");
            exchange.sendResponseHeaders(200, bytes.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(bytes);
            }
        });
        site.start();
        return site;
    }

    @Test
    void shouldServeTheVersionsOfAModelInAnArchive() throws IOException, InterruptedException {
        Path archive = archive(1);
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
