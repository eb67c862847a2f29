// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.LibraryCache;
import gatun.bindings.TensorFlow;
import gatun.it.harness.ServerProcess;
import gatun.server.Failures;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operator's output, and the exit status, where nothing is served. */
class CommandLineIT {
    @TempDir
    Path folder;

    @Test
    void shouldSuggestTheNearestFlagAndExitWithTwo() {
        ServerProcess gatun = ServerProcess.run("serve", "--model-repository=models", "--http-prot=1");
        assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(gatun.log()).contains("unknown flag --http-prot. Did you mean --http-port?");
        assertThat(gatun.output()).isEmpty();
    }

    @Test
    void shouldShowItsHelp() {
        ServerProcess gatun = ServerProcess.run("serve", "--help");
        assertThat(gatun.awaitExit(Duration.ZERO)).isZero();
        assertThat(gatun.output()).contains("--model-repository=DIR");
        assertThat(gatun.log()).isEmpty();
    }

    @Test
    void shouldTellTheVersionsWhereItIsCalledAsTensorFlowServingIs() {
        ServerProcess none = ServerProcess.start(
                List.of("tensorflow_model_server", "--version"), Map.of("GATUN_CACHE", folder.toString()));
        assertThat(none.awaitExit(Duration.ofSeconds(60))).as(none.log()).isZero();
        assertThat(none.output().lines())
                .satisfiesExactly(
                        program -> assertThat(program).startsWith("TensorFlow ModelServer: gatun "),
                        library -> assertThat(library)
                                .isEqualTo("TensorFlow Library: not installed; './gatun install tensorflow' does it"));
        ServerProcess gatun = ServerProcess.run("tensorflow_model_server", "--port=0", "--version");
        assertThat(gatun.awaitExit(Duration.ZERO)).isZero();
        assumeThat(TensorFlow.installed(LibraryCache.ofUser()))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isPresent();
        assertThat(gatun.output().lines().toList().getLast()).matches("TensorFlow Library: 2\\.\\d+\\.\\d+.*");
        assertThat(gatun.log()).isEmpty();
    }

    @Test
    void shouldStartWithTheCacheThatTheBuildMade() {
        boolean supported = Runtime.version().feature() >= 25;
        // A JVM that must have its cache ends where the cache is not for it.
        ServerProcess gatun = ServerProcess.start(
                List.of("--version"), Map.of("GATUN_JAVA_OPTS", supported ? "-XX:AOTMode=on" : "-XX:+UseParallelGC"));
        assertThat(gatun.awaitExit(Duration.ofSeconds(60))).as(gatun.log()).isZero();
        assertThat(gatun.output()).startsWith("gatun ");
        assertThat(ServerProcess.root().resolve("server/target/gatun/gatun.aot").toFile())
                .matches(cache -> cache.isFile() == supported, "the build makes it for Java 25 and newer");
    }

    @Test
    void shouldStartThroughALinkWithABlankInItsName() throws Exception {
        Path link = Files.createSymbolicLink(
                Files.createDirectory(folder.resolve("a folder")).resolve("gatun link"),
                ServerProcess.root().resolve("gatun"));
        ProcessBuilder builder = new ProcessBuilder(link.toString(), "--version")
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile());
        builder.environment().put("GATUN_BUILD", "never");
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(folder.resolve("out")).content().startsWith("gatun ");
        assertThat(process.exitValue()).isZero();
    }

    @Test
    void shouldSayWhichJavaItFoundWhereNoneIsNewEnough() throws Exception {
        Path old = Files.createDirectories(folder.resolve("jdk/bin"));
        Path java = Files.writeString(old.resolve("java"), "#!/bin/sh\nexit 1\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"21.0.1\"\n");
        Path launcher = Files.copy(ServerProcess.root().resolve("gatun"), folder.resolve("gatun"));
        Path shared = Path.of("server/src/main/sh/launch.sh");
        Files.createDirectories(folder.resolve(shared).getParent());
        Files.writeString(
                folder.resolve(shared),
                Files.readString(ServerProcess.root().resolve(shared)).replace("least=22", "least=9999"));
        Files.createDirectories(folder.resolve("server/target/gatun/lib"));
        ProcessBuilder builder = new ProcessBuilder("sh", launcher.toString(), "--version")
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile())
                .directory(folder.toFile());
        builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
        builder.environment().put("GATUN_BUILD", "never");
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(1);
        assertThat(folder.resolve("out"))
                .content()
                .contains("a JDK of version 9999 or newer is needed", "Java 21 in " + folder.resolve("jdk"));
    }

    @Test
    void shouldNameThePortThatIsInUse() throws Exception {
        InetSocketAddress free = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);
        try (ServerSocketChannel other = ServerSocketChannel.open().bind(free)) {
            int port = ((InetSocketAddress) other.getLocalAddress()).getPort();
            ServerProcess gatun = ServerProcess.run(
                    "serve",
                    "--model-repository=" + ServerProcess.exampleModels(),
                    "--http-address=127.0.0.1",
                    "--http-port=" + port);
            assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(1);
            assertThat(gatun.log()).contains("--http-port=" + port + ": port " + port + " is in use on 127.0.0.1");
            assertThat(gatun.readyFileExists()).isFalse();
        }
    }

    @Test
    void shouldNameTheFlagWhereTheRepositoryIsMissing() {
        Path missing = folder.resolve("nowhere");
        ServerProcess gatun = ServerProcess.run(
                "serve", "--model-repository=" + missing, "--http-port=0", "--grpc-port=0", "--metrics-port=0");
        assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(gatun.log()).contains("--model-repository=" + missing);
    }

    @Test
    void shouldSayWhatToDoWithLooseFiles() throws Exception {
        Files.createDirectories(folder.resolve("models/lettered/v1"));
        Files.writeString(folder.resolve("models/loose.onnx"), "x");
        ServerProcess loose = ServerProcess.run(
                "serve",
                "--model-repository=" + folder.resolve("models"),
                "--http-port=0",
                "--grpc-port=0",
                "--metrics-port=0");
        assertThat(loose.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(loose.log()).contains("loose.onnx is not served as it lies there");
        assertThat(loose.output() + loose.log()).contains("folder 'v1' is no version: rename it to 1");
    }

    @Test
    void shouldNotStartWithoutTheFolderOfAListedModel() {
        ServerProcess gatun =
                ServerProcess.run("tensorflow_model_server", "--port=0", "--model_base_path=/gatun-it/nosuch");
        assertThat(gatun.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(gatun.log())
                .contains("Could not find base path /gatun-it/nosuch for servable default with error NOT_FOUND");
    }

    @Test
    void shouldEndAJvmThatIsOutOfMemory() {
        ServerProcess gatun = ServerProcess.start(
                List.of(
                        "serve",
                        "--model-repository=" + ServerProcess.exampleModels(),
                        "--http-port=0",
                        "--grpc-port=0",
                        "--metrics-port=0"),
                // Its cache needs more than so small a heap.
                Map.of("GATUN_JAVA_OPTS", "-XX:+IgnoreUnrecognizedVMOptions -XX:AOTMode=off -Xms6m -Xmx6m"));
        assertThat(gatun.awaitExit(Duration.ofSeconds(60))).isEqualTo(Failures.OUT_OF_MEMORY);
    }
}
