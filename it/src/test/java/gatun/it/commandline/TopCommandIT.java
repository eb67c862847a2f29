// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Python;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code gatun top}: its plain table, its screen in a pseudo-terminal, and what a hostile server can do to it. */
@Timeout(120)
class TopCommandIT {
    /** Runs a command in a terminal of 24 rows, and presses keys once the screen shows what it should. */
    private static final String TERMINAL = """
            import fcntl, os, pty, select, signal, struct, sys, termios, time
            pid, terminal = pty.fork()
            if pid == 0:
                os.environ["TERM"] = "xterm"
                os.execvp(sys.argv[1], sys.argv[1:])
            def resize(columns):
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            resize(150)
            seen = b""
            def until(text):
                global seen
                end = time.monotonic() + 40
                while text not in seen:
                    if time.monotonic() > end:
                        sys.exit("no " + repr(text) + " in " + repr(seen))
                    if select.select([terminal], [], [], 1)[0]:
                        seen += os.read(terminal, 65536)
                sys.stdout.buffer.write(seen)
                seen = b""
            until(b"identity_fp32")
            os.write(terminal, b"s")
            until(b"sort: requests")
            os.write(terminal, b"\\r")
            until(b"compute infer")
            os.write(terminal, b"\\r")
            until(b"MODEL")
            resize(50)
            until(b"s sort: requests   e\\x1b[K")
            os.write(terminal, b"q")
            until(b"\\x1b[?1049l")
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """;

    @TempDir
    Path folder;

    @Test
    void shouldShowAServerOnceAndInATerminal() throws Exception {
        Path socket = folder.resolve("http.sock");
        try (ServerProcess server =
                        ServerProcess.launch(ServerProcess.exampleModels(), "--http-unix-socket=" + socket);
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                    .isEqualTo(200);
            for (String url : List.of("unix:" + socket, "grpc://localhost:" + server.grpcPort())) {
                ServerProcess plain =
                        ServerProcess.run("top", "--once", "--url=" + url, "--metrics-url=" + server.metrics());
                assertThat(plain.awaitExit(Duration.ZERO)).as(plain.log()).isZero();
                assertThat(plain.output())
                        .containsPattern("MODEL +VERSION +STATE +REQ/S")
                        .containsPattern("simple +1 +ready +0 ")
                        .containsPattern("memory \\d+ MiB")
                        .contains(" ready   0 requests/s")
                        .doesNotContain("\u001b");
            }
            Path script = Files.writeString(folder.resolve("terminal.py"), TERMINAL);
            ProcessBuilder terminal = new ProcessBuilder(
                            Python.with(),
                            script.toString(),
                            ServerProcess.root().resolve("gatun").toString(),
                            "top",
                            "--url=" + server.http(""))
                    .redirectErrorStream(true);
            terminal.environment().putAll(Map.of("GATUN_BUILD", "never", "JAVA_HOME", System.getProperty("java.home")));
            Process shown = terminal.start();
            String screen = new String(shown.getInputStream().readAllBytes(), UTF_8);
            assertThat(shown.waitFor(10, TimeUnit.SECONDS)).isTrue();
            assertThat(shown.exitValue()).as(screen).isZero();
            assertThat(screen).contains("\u001b[?1049h", "\u001b[7m", "simple_ensemble", "0 requests/s");
        }
    }

    @Test
    void shouldSayThatThereIsNoServer() {
        ServerProcess absent = ServerProcess.run("top", "--once", "--url=unix:" + folder.resolve("nobody.sock"));
        assertThat(absent.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(absent.log()).contains("nobody.sock");
        assertThat(absent.output()).isEmpty();
    }

    @Test
    void shouldSurviveAHostileServer() throws Exception {
        HttpServer hostile = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String index = IntStream.range(0, 100_000)
                .mapToObj(i ->
                        "{\"name\":\"m" + i + "\\u001b[2J\",\"version\":\"1\",\"state\":\"READY\",\"reason\":\"\"}")
                .collect(Collectors.joining(",", "[", "]"));
        hostile.createContext("/v2/repository/index", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(index.getBytes(UTF_8));
            exchange.close();
        });
        hostile.createContext("/metrics", exchange -> {
            exchange.sendResponseHeaders(200, 0); // and nothing ever follows
        });
        hostile.start();
        try {
            String url = "http://localhost:" + hostile.getAddress().getPort();
            ServerProcess top = ServerProcess.run(
                    "top", "--once", "--timeout=3", "--url=" + url, "--metrics-url=" + url + "/metrics");
            assertThat(top.awaitExit(Duration.ZERO)).as(top.log()).isZero();
            assertThat(top.output())
                    .contains("10000 versions and 90000 more")
                    .contains("m0?[2J")
                    .doesNotContain("\u001b");
        } finally {
            hostile.stop(0);
        }
    }
}
