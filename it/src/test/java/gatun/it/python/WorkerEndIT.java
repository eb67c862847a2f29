// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes of models that end in every way: what they had to answer fails at once with the reason, others' requests go
 * on, and they are started again.
 */
@Timeout(180)
class WorkerEndIT {
    private static final String X = input("X", "FP32", "1");
    private static final String Y = output("Y", "FP32", "1");

    /** Does to itself what its input says. */
    private static final String FRAGILE = """
            import ctypes, os, signal, sys, time
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def execute(self, requests):
                    x = int(requests[0].inputs()[0].as_numpy()[0])
                    if x == 1:
                        print("about to read address 0", file=sys.stderr, flush=True)
                        ctypes.string_at(0)
                    if x == 2:
                        os.abort()
                    if x == 3:
                        os._exit(5)
                    if x == 4:
                        os.kill(os.getpid(), signal.SIGKILL)
                    if x == 5:
                        open(MARK, "w").close()
                        time.sleep(3600)
                    return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", requests[0].inputs()[0].as_numpy())])]
            """;

    @TempDir
    private Path folder;

    private static HttpResponse<String> infer(HttpApi http, String model, int x) {
        return http.post(
                "/v2/models/" + model + "/infer",
                "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[" + x + "]}]}");
    }

    private ServerProcess launch(Path mark, String... parameters) throws Exception {
        PythonModels models = new PythonModels(folder.resolve("models"));
        String source = FRAGILE.replace("MARK", "'" + mark + "'");
        models.write("fragile", String.join("\n", parameters) + X + Y, source);
        models.write("steady", X + Y, source);
        ServerProcess server = ServerProcess.launch(folder.resolve("models"), PythonModels.executable());
        server.expectErrors();
        return server;
    }

    @Test
    void shouldTellHowAProcessEndedAndServeOn() throws Exception {
        try (ServerProcess server = launch(folder.resolve("mark"));
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "fragile", 1).body())
                    .contains("model instance 'fragile_0'", "SIGSEGV", "about to read address 0");
            assertThat(infer(http, "steady", 7).body()).contains("[7.0]");
            // The first time it is started again at once, and the request waits for it.
            assertThat(infer(http, "fragile", 7).body()).contains("[7.0]");
            assertThat(infer(http, "fragile", 3).body()).contains("exited with status 5");
            HttpResponse<String> early = infer(http, "fragile", 7);
            assertThat(early.statusCode()).isEqualTo(503);
            assertThat(early.body()).contains("has ended 2 times within a minute", "is started again in");
            Await.until("it runs again", () -> infer(http, "fragile", 7).statusCode() == 200);
            assertThat(http.metric("gatun_worker_deaths{instance=\"fragile_0\",model=\"fragile\",reason=\"signal\"}"))
                    .isEqualTo(1);
            assertThat(http.metric("gatun_worker_deaths{instance=\"fragile_0\",model=\"fragile\",reason=\"exit\"}"))
                    .isEqualTo(1);
            assertThat(infer(http, "fragile", 2).body()).contains("SIGABRT");
            assertThat(infer(http, "steady", 8).body()).contains("[8.0]");
        }
    }

    @Test
    void shouldFailWhatRunsWhenAProcessIsKilled() throws Exception {
        Path mark = folder.resolve("mark");
        try (ServerProcess server = launch(mark);
                HttpApi http = new HttpApi(server)) {
            CompletableFuture<HttpResponse<String>> stuck =
                    CompletableFuture.supplyAsync(() -> infer(http, "fragile", 5));
            Await.until("the model runs", () -> Files.exists(mark));
            List<ProcessHandle> busy = workers(server);
            assertThat(busy).hasSize(2);
            assertThat(infer(http, "steady", 3 + 4).body()).contains("[7.0]");
            busy.forEach(ProcessHandle::destroyForcibly);
            assertThat(stuck.join().body()).contains("was ended by SIGKILL");
            Await.until(
                    "both run again",
                    () -> infer(http, "steady", 9).statusCode() == 200
                            && infer(http, "fragile", 9).statusCode() == 200);
        }
    }

    @Test
    void shouldEndARunThatTakesTooLong() throws Exception {
        Path mark = folder.resolve("mark");
        try (ServerProcess server =
                        launch(mark, "parameters { key: \"execution_timeout_ms\" value { string_value: \"500\" } }\n");
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "fragile", 5).body())
                    .contains("was ended by the server", "execute took longer than execution_timeout_ms, 500");
            assertThat(infer(http, "fragile", 7).body()).contains("[7.0]");
        }
    }

    @Test
    void shouldRemoveTheFilesOfAServerThatWasKilled() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Map<String, String> environment = Map.of("GATUN_JAVA_OPTS", "-Djava.io.tmpdir=" + temporary);
        new PythonModels(folder.resolve("models")).write("steady", X + Y, FRAGILE.replace("MARK", "'mark'"));
        Path left;
        try (ServerProcess server =
                        ServerProcess.launch(folder.resolve("models"), environment, PythonModels.executable());
                HttpApi http = new HttpApi(server)) {
            server.expectErrors();
            assertThat(infer(http, "steady", 7).body()).contains("[7.0]");
            left = only(temporary);
            assertThat(left.getFileName().toString()).startsWith("gatun-server-");
            assertThat(server.handle().destroyForcibly()).isTrue();
            server.handle().onExit().join();
        }
        assertThat(only(temporary)).isEqualTo(left);
        try (ServerProcess server =
                        ServerProcess.launch(folder.resolve("models"), environment, PythonModels.executable());
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "steady", 8).body()).contains("[8.0]");
            assertThat(only(temporary)).isNotEqualTo(left);
        }
        assertThat(temporary).isEmptyDirectory();
    }

    /** The one folder of a server in {@code folder}. */
    private static Path only(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            List<Path> folders = entries.filter(
                            path -> path.getFileName().toString().startsWith("gatun-"))
                    .toList();
            assertThat(folders).hasSize(1);
            return folders.getFirst();
        }
    }

    @Test
    void shouldLeaveNoProcessBehind() throws Exception {
        List<ProcessHandle> workers;
        try (ServerProcess server = launch(folder.resolve("mark"));
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "fragile", 7).body()).contains("[7.0]");
            workers = workers(server);
            assertThat(workers).hasSize(2);
            assertThat(server.handle().destroyForcibly()).isTrue();
            for (ProcessHandle worker : workers) {
                worker.onExit().join();
            }
            server.handle().onExit().join();
        }
        assertThat(workers).noneMatch(ProcessHandle::isAlive);
    }

    /** Starts processes in every way in which they leave their parent, and prints in a loop. */
    private static final String PROLIFIC = """
            import multiprocessing, os, subprocess, sys, time
            import triton_python_backend_utils as pb_utils

            def rest():
                time.sleep(3600)

            class TritonPythonModel:
                def initialize(self, args):
                    self.pool = multiprocessing.get_context("fork").Pool(2)
                    for i in range(20):
                        subprocess.Popen(["sleep", "3600"])
                        subprocess.Popen(["sleep", "3600"], start_new_session=True)
                        subprocess.Popen(["/bin/sleep", "3600"], env={})
                        subprocess.Popen(["/bin/sh", "-c", "(setsid sleep 3600 &)"]).wait()
                    if os.fork() == 0:
                        os.setsid()
                        if os.fork() == 0:
                            rest()
                        os._exit(0)

                def execute(self, requests):
                    x = requests[0].inputs()[0].as_numpy()
                    for i in range(int(x[0])):
                        print("a line that is printed again and again, without any end in sight")
                    return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", x)])]
            """;

    private ServerProcess launchProlific(String probe) throws Exception {
        new PythonModels(folder.resolve("models")).write("prolific", X + Y, PROLIFIC);
        ServerProcess server = ServerProcess.launch(
                folder.resolve("models"), Map.of("GATUN_TEST_PROBE", probe), PythonModels.executable());
        server.expectErrors();
        return server;
    }

    /**
     * The processes that inherit a variable from the server, but not those that run its own programs, and those that
     * are of the sessions of such.
     */
    private static List<Long> offspring(String probe, List<String> sessions) throws IOException {
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                try {
                    String stat = Files.readString(process.resolve("stat"), ISO_8859_1);
                    String session = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3];
                    String command = Files.readString(process.resolve("cmdline"), ISO_8859_1);
                    boolean inherits = Files.readString(process.resolve("environ"), ISO_8859_1)
                            .contains(probe);
                    boolean ours = command.startsWith("sleep")
                            || command.startsWith("/bin/sleep")
                            || command.contains("gatun_worker.py");
                    if (ours && (inherits || sessions.contains(session))) {
                        found.add(Long.parseLong(process.getFileName().toString()));
                    }
                } catch (IOException e) {
                    assertThat(e)
                            .as("of a process that has just ended, or is another user's")
                            .isNotNull();
                }
            }
        }
        return found;
    }

    private static List<String> pids(List<ProcessHandle> processes) {
        return processes.stream().map(process -> Long.toString(process.pid())).toList();
    }

    /** The worker that leads the session of those that it has started: no other is its child. */
    private static ProcessHandle worker(ServerProcess server) {
        return server.handle()
                .descendants()
                .filter(process -> workers(server).contains(process)
                        && !workers(server).contains(process.parent().orElseThrow()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLeaveNothingOfAWorkerThatIsKilled() throws Exception {
        String probe = UUID.randomUUID().toString();
        try (ServerProcess server = launchProlific(probe);
                HttpApi http = new HttpApi(server)) {
            ProcessHandle first = worker(server);
            List<Long> before = offspring(probe, pids(List.of(first)));
            assertThat(before).hasSizeGreaterThanOrEqualTo(80);
            first.destroyForcibly();
            Await.until("all are gone", () -> before.stream()
                    .noneMatch(pid ->
                            ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()));
            Await.until("it runs again", () -> infer(http, "prolific", 0).statusCode() == 200);
        }
        assertThat(offspring(probe, List.of())).isEmpty();
    }

    @Test
    void shouldLeaveNothingOfAServerThatIsKilledWithAWorkerThatIsStopped() throws Exception {
        String probe = UUID.randomUUID().toString();
        List<String> sessions;
        try (ServerProcess server = launchProlific(probe)) {
            ProcessHandle worker = worker(server);
            sessions = pids(List.of(worker));
            assertThat(offspring(probe, sessions)).hasSizeGreaterThanOrEqualTo(80);
            assertThat(new ProcessBuilder("kill", "-STOP", Long.toString(worker.pid()))
                            .start()
                            .waitFor())
                    .isZero();
            assertThat(server.handle().destroyForcibly()).isTrue();
            server.handle().onExit().join();
        }
        Await.until("all are gone", () -> offspring(probe, sessions).isEmpty());
    }

    @Test
    void shouldLimitWhatAModelPrints() throws Exception {
        try (ServerProcess server = launchProlific(UUID.randomUUID().toString());
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "prolific", 1_000_000).statusCode()).isEqualTo(200);
            assertThat(infer(http, "prolific", 1_000_000).statusCode()).isEqualTo(200);
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(45))).isZero();
            assertThat(server.log())
                    .contains("without any end in sight", "lines of ", "characters were left out")
                    .hasSizeLessThan(8 << 20);
        }
    }

    private static List<ProcessHandle> workers(ServerProcess server) {
        return server.descendants("gatun_worker.py");
    }
}
