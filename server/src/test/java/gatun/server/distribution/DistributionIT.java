// SPDX-License-Identifier: Apache-2.0
package gatun.server.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.harness.HttpApi;
import gatun.server.harness.ServerProcess;
import gatun.server.harness.SimpleModel;
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
        try (Stream<Path> files = Files.list(folder.resolve("made"))) {
            Path archive = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .findFirst()
                    .orElseThrow();
            run("tar", "-xzf", archive.toString(), "-C", elsewhere.toString());
        }
        run("rm", "-rf", folder.resolve("made").toString());
        try (Stream<Path> files = Files.list(elsewhere)) {
            distribution = files.findFirst().orElseThrow();
        }
    }

    private static void run(String... command) throws Exception {
        Path output = folder.resolve("output");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
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
