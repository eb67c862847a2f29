// SPDX-License-Identifier: Apache-2.0
package gatun.it.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive, made as {@code mvn -Pdist package} makes it, unpacked elsewhere and used as by somebody without tools. */
class DistributionIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** No cache that could be written, and no Java to be found but the one that comes along. */
    private static final Map<String, String> BARE =
            Map.of("GATUN_CACHE", "/dev/null/none", "JAVA_HOME", "/dev/null/none");

    @TempDir
    static Path folder;

    private static Path distribution;

    /** What lies in the Debian package. */
    private static Path packaged;

    private static String control;

    /** The container image, taken apart. */
    private static Path layout;

    @BeforeAll
    static void makeAndUnpack() throws Exception {
        Path root = ServerProcess.root();
        run(
                "sh",
                root.resolve("server/src/main/sh/distribution/make.sh").toString(),
                root.toString(),
                System.getProperty("gatun.lib"),
                "1.2.3",
                Files.createDirectory(folder.resolve("made")).toString());
        Path elsewhere = Files.createDirectory(folder.resolve("an other folder"));
        run("tar", "-xzf", made(".tar.gz"), "-C", elsewhere.toString());
        packaged = folder.resolve("packaged");
        control = run("dpkg-deb", "--info", made(".deb"));
        run("dpkg-deb", "--extract", made(".deb"), packaged.toString());
        layout = Files.createDirectory(folder.resolve("layout"));
        run("tar", "-xf", made(".tar"), "-C", layout.toString());
        run("rm", "-rf", folder.resolve("made").toString());
        try (Stream<Path> files = Files.list(elsewhere)) {
            distribution = files.findFirst().orElseThrow();
        }
    }

    /** The file of this kind that was made. */
    private static String made(String kind) throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve("made"))) {
            return files.map(Path::toString)
                    .filter(file -> file.endsWith(kind))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static String run(String... command) throws Exception {
        Path output = folder.resolve("output");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // What is packed well is packed slowly.
        builder.environment().put("GATUN_COMPRESSION", "1");
        Process process = builder.start();
        assertThat(process.waitFor(600, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readString(output);
    }

    @Test
    void shouldBeNamedByItsVersionAndMachine() {
        assertThat(distribution.getFileName().toString()).matches("gatun-1\\.2\\.3-linux-(x86_64|aarch64)");
    }

    @Test
    void shouldServeItsModelsWithoutWritingACacheOrFindingJava() throws Exception {
        Path launcher = distribution.resolve("bin/gatun");
        try (ServerProcess server = ServerProcess.launch(launcher, distribution.resolve("models"), BARE);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);
            assertThat(http.get("/v1/models/digits").statusCode()).isEqualTo(200);
            assertThat(http.get("/api/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldTakeTheCommandLinesOfOtherServersUnderTheirNames() {
        for (Path program :
                List.of(distribution.resolve("bin/tritonserver"), packaged.resolve("usr/bin/tritonserver"))) {
            ServerProcess triton = ServerProcess.start(program, List.of("--version"), BARE);
            assertThat(triton.awaitExit(LIMIT)).as(triton.log()).isZero();
            assertThat(triton.output()).startsWith("Triton Inference Server: gatun ");
        }
        ServerProcess tensorFlow = ServerProcess.start(
                distribution.resolve("bin/tensorflow_model_server"), List.of("--port=0", "--version"), BARE);
        assertThat(tensorFlow.awaitExit(LIMIT)).as(tensorFlow.log()).isZero();
        assertThat(tensorFlow.output()).startsWith("TensorFlow ModelServer: gatun ");
    }

    @Test
    void shouldServeAsTriton() throws Exception {
        Path ready = folder.resolve("triton ready");
        try (ServerProcess server = ServerProcess.start(
                distribution.resolve("bin/tritonserver"),
                List.of(
                        "--model-store=" + distribution.resolve("models"),
                        "--allow-http=true",
                        "--http-address=127.0.0.1",
                        "--http-port=0",
                        "--allow-grpc=false",
                        "--allow-metrics=false",
                        "--log-verbose=1",
                        "--http-thread-count=8",
                        "--ready-file=" + ready),
                BARE)) {
            Await.until("the server is ready", () -> Files.exists(ready));
            assertThat(server.log()).contains("--http-thread-count is a flag of Triton that has no effect in Gatun");
        }
    }

    @Test
    void shouldSayHowToStartAndWhatToInstall() throws Exception {
        String text = Files.readString(distribution.resolve("README.md"));
        assertThat(text).contains("bin/gatun serve --model-repository=models", "share/man/man1/gatun.1");
        try (Stream<Path> engines = Files.list(distribution.resolve("lib/install"))) {
            assertThat(engines.map(file -> file.getFileName().toString())
                            .filter(file -> file.endsWith(".properties"))
                            .map(file -> "`bin/gatun install " + file.replace(".properties", "`")))
                    .isNotEmpty()
                    .allMatch(text::contains);
        }
        assertThat(text.lines()
                        .filter(line -> line.startsWith("| `"))
                        .map(line -> line.substring(3, line.indexOf('`', 3)))
                        .filter(name -> name.endsWith(".md")))
                .isNotEmpty()
                .allMatch(name -> Files.exists(distribution.resolve(name)));
    }

    @Test
    void shouldBringItsManualAndCompletionAlong() {
        Path share = distribution.resolve("share");
        assertThat(share.resolve("man/man1/gatun.1"))
                .content()
                .startsWith(".TH GATUN 1")
                .contains("http\\-port");
        assertThat(share.resolve("bash-completion/completions/gatun")).content().contains("complete -F _gatun gatun");
        assertThat(share.resolve("zsh/site-functions/_gatun")).content().startsWith("#compdef gatun");
        assertThat(share.resolve("fish/vendor_completions.d/gatun.fish"))
                .content()
                .contains("-l http-port");
    }

    @Test
    void shouldBePackedForDebianWithAServiceAndItsSettings() {
        assertThat(control)
                .contains("Package: gatun\n", "Version: 1.2.3\n")
                .containsPattern("Architecture: (amd64|arm64)\n")
                .contains("ONNX", "TensorFlow", "PyTorch", "XGBoost", "LightGBM", "Python", "CUDA")
                .contains("conffiles", "postinst", "prerm");
        assertThat(packaged.resolve("usr/share/man/man1/gatun.1.gz")).exists();
        assertThat(packaged.resolve("usr/share/bash-completion/completions/gatun"))
                .exists();
        assertThat(packaged.resolve("usr/lib/sysusers.d/gatun.conf")).content().startsWith("u gatun ");
        assertThat(packaged.resolve("usr/lib/systemd/system/gatun.service"))
                .content()
                .contains("ExecStart=/usr/bin/gatun serve --config=/etc/gatun/gatun.yaml");
    }

    @Test
    void shouldServeWithTheSettingsOfTheDebianPackage() throws Exception {
        Path models = Files.createDirectories(folder.resolve("var models"));
        try (ServerProcess server = ServerProcess.launch(
                        packaged.resolve("usr/bin/gatun"),
                        models,
                        BARE,
                        "--config=" + packaged.resolve("etc/gatun/gatun.yaml"),
                        "--repository-poll-secs=1");
                HttpApi http = new HttpApi(server)) {
            run("cp", "-R", distribution.resolve("models/simple").toString(), models + "/");
            Await.until(
                    "the model that came is served",
                    () -> http.post("/v2/models/simple/infer", SimpleModel.json())
                                    .statusCode()
                            == 200);
        }
    }

    @Test
    void shouldServeInAContainerWhoseUserMayWriteNothing() throws Exception {
        OciImage image = OciImage.of(layout);
        Path root = Files.createDirectory(folder.resolve("root"));
        assertThat(image.unpack(root)).isLessThan(150_000_000);
        assertThat(image.user()).isEqualTo("65532:65532");
        assertThat(image.list("Entrypoint")).containsExactly("gatun");
        assertThat(image.list("Cmd")).containsExactly("serve", "--model-repository=/models");
        Path files = Path.of(System.getProperty("gatun.it.folder"));
        Path models = Files.createDirectories(files.resolve("container-models"));
        run("cp", "-R", distribution.resolve("models").toString() + "/.", models.toString());
        Map<String, String> container = Map.of(
                "CONTAINER_ROOT", root.toString(),
                "CONTAINER_FILES", files.toString(),
                "CONTAINER_USER", image.user(),
                "CONTAINER_MEMORY", Integer.toString(800 << 20),
                "CONTAINER_ENVIRONMENT", String.join(" ", image.list("Env")));
        Path engine = ServerProcess.root().resolve("it/src/test/sh/container.sh");
        try (ServerProcess server = ServerProcess.launch(engine, models, container);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);
            assertThat(http.get("/v1/models/digits").statusCode()).isEqualTo(200);
            // Of the container's memory, not of the machine's.
            assertThat(http.metric("jvm_memory_max_bytes{area=\"heap\"}")).isBetween(150e6, 210e6);
        }
    }

    @Test
    void shouldStartWithItsCacheInAnyFolder() {
        boolean supported = Runtime.version().feature() >= 25;
        ServerProcess gatun = ServerProcess.start(
                distribution.resolve("bin/gatun"),
                List.of("--version"),
                Map.of("GATUN_JAVA_OPTS", supported ? "-XX:AOTMode=on" : "-XX:+UseParallelGC"));
        assertThat(gatun.awaitExit(LIMIT)).as(gatun.log()).isZero();
        assertThat(gatun.output()).startsWith("gatun ");
        assertThat(Files.exists(distribution.resolve("lib/gatun.aot"))).isEqualTo(supported);
    }
}
