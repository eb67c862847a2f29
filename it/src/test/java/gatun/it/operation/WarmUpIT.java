// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The start of a server that warms itself up before it is ready. */
@Timeout(120)
class WarmUpIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String BEGUN = "WarmUp] Warming up for ";
    private static final String DONE = "WarmUp] Warmed up by ";

    /** Less than a buffer pool takes of the address space, and more than anything else that may differ by chance. */
    private static final long POOL_SPACE = 1L << 30;

    private static final Pattern LASTING = Pattern.compile("warm-up|accept-|region-|console-|grpc-|onnxruntime-");

    @TempDir
    Path folder;

    /** Has the process keep its temporary files in a folder of their own. */
    private static Map<String, String> temporaryFiles(Path in) {
        return Map.of("GATUN_JAVA_OPTS", System.getenv("GATUN_JAVA_OPTS") + " -Djava.io.tmpdir=" + in);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }

    /** The names of the threads that a server has whether or not it is asked, in order. */
    private static List<String> threads(ServerProcess server) throws IOException {
        try (Stream<Path> entries =
                Files.list(Path.of("/proc/" + server.handle().pid() + "/task"))) {
            return entries.map(task -> text(task.resolve("comm")).strip())
                    .filter(name -> LASTING.matcher(name).lookingAt())
                    .sorted()
                    .toList();
        }
    }

    private static long sockets(ServerProcess server) throws IOException {
        try (Stream<Path> entries =
                Files.list(Path.of("/proc/" + server.handle().pid() + "/fd"))) {
            return entries.filter(descriptor -> target(descriptor).startsWith("socket:"))
                    .count();
        }
    }

    /** Bytes of address space that the process may write to, whether or not there is memory behind them. */
    private static long writableBytes(ServerProcess server) throws IOException {
        try (Stream<String> maps =
                Files.lines(Path.of("/proc/" + server.handle().pid() + "/maps"))) {
            return maps.map(line -> line.split("[- ]", 4))
                    .filter(map -> map[2].startsWith("rw"))
                    .mapToLong(map -> Long.parseLong(map[1], 16) - Long.parseLong(map[0], 16))
                    .sum();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return ""; // It was closed just now.
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return ""; // The thread has ended just now.
        }
    }

    @Test
    void shouldLeaveNothingOfTheWarmUpInTheServerThatFollows() throws Exception {
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(), temporaryFiles(folder), "--start-warm-up-secs=10");
                HttpApi http = new HttpApi(server)) {
            assertThat(server.log()).containsSubsequence(BEGUN + "10 s", DONE).doesNotContain("WarmUp] Some requests");
            String log = server.log();
            int begin = log.indexOf(DONE) + DONE.length();
            assertThat(Long.parseLong(log.substring(begin, log.indexOf(' ', begin))))
                    .as("requests that were answered")
                    .isGreaterThan(200);
            // One line for the engine, and one for each model of the operator; none of the other server.
            assertThat(log.lines().filter(line -> line.contains("OnnxRuntimeBackend]")))
                    .hasSize(1);
            assertThat(log.lines().filter(line -> line.contains("ModelReload]")))
                    .hasSize(names(ServerProcess.exampleModels()).size());

            assertThat(names(folder)).as("temporary files").isEmpty();
            try (ServerProcess cold = ServerProcess.launch(ServerProcess.exampleModels())) {
                Await.until("the threads are those of a server without a warm-up", () -> threads(server)
                        .equals(threads(cold)));
                assertThat(sockets(server)).isEqualTo(sockets(cold));
                assertThat(writableBytes(server)).isCloseTo(writableBytes(cold), within(POOL_SPACE));
            }

            assertThat(http.post("/v2/repository/index", "").body())
                    .contains("\"simple\"")
                    .doesNotContain("integers", "floats", "\"texts\"");
            assertThat(http.get("/v2/models/simple/stats").body())
                    .contains("\"inference_count\":0", "\"execution_count\":0");
            String metrics = http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(metrics).contains("model=\"simple\"").doesNotContain("integers", "floats", "\"texts\"");
            assertThat(metrics.lines().filter(line -> line.startsWith("nv_inference_request_success{")))
                    .isNotEmpty()
                    .allMatch(line -> line.endsWith(" 0"));
        }
    }

    @Test
    void shouldEndAtOnceWhenItIsToldToStopBeforeItIsWarm() throws Exception {
        Path socket = folder.resolve("http.sock");
        Path files = Files.createDirectory(folder.resolve("tmp"));
        try (ServerProcess server = ServerProcess.start(
                List.of(
                        "serve",
                        "--model-repository=" + ServerProcess.exampleModels(),
                        "--http-port=0",
                        "--grpc-port=0",
                        "--metrics-port=0",
                        "--http-unix-socket=" + socket,
                        "--drain-secs=600",
                        "--start-warm-up-secs=600"),
                temporaryFiles(files))) {
            Await.until("the warm-up begins", () -> server.log().contains(BEGUN));
            assertThat(server.readyFileExists()).isFalse();
            assertThat(socket).doesNotExist();
            server.terminate();
            assertThat(server.awaitExit(LIMIT)).isZero();
            assertThat(server.output()).doesNotContain("Ready in");
            assertThat(server.log()).contains("Stopped; the process ends").doesNotContain("WARN", "Draining");
            assertThat(names(files)).isEmpty();
        }
    }

    @Test
    void shouldStartWithoutAWarmUpWhereItCannotWriteTemporaryFiles() throws Exception {
        Path missing = folder.resolve("missing");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(), temporaryFiles(missing), "--start-warm-up-secs=600");
                HttpApi http = new HttpApi(server)) {
            assertThat(server.log())
                    .contains(
                            "The warm-up is left out, and the first requests take longer: ",
                            "java.io.tmpdir is " + missing);
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldRefuseATimeThatIsNone() {
        ServerProcess server = ServerProcess.run("serve", "--model-repository=" + folder, "--start-warm-up-secs=-1");
        assertThat(server.awaitExit(Duration.ZERO)).isEqualTo(2);
        assertThat(server.log()).contains("--start-warm-up-secs", "'-1'", "a number of seconds from 0 up");
    }
}
