// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Python;
import io.grpc.ServerInterceptors;
import io.grpc.testing.integration.TestServiceImpl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The client of gRPC's C core, on which Python's, C++'s and many others stand. Skipped where Python has none. */
@Timeout(200)
class CoreClientTest {
    private static final Path SCRIPTS = Path.of("src/test/python");

    @TempDir
    Path directory;

    private List<String> run(String script, String target) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(
                        Python.with("grpc"), SCRIPTS.resolve(script).toString(), target)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(150, TimeUnit.SECONDS))
                    .as("the client's end")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        List<String> lines = new ArrayList<>(Files.readAllLines(output));
        assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
        return lines;
    }

    @Test
    void shouldServeTheCCoreOverTcp() throws Exception {
        try (TestServer server = TestServer.start(EchoService.definition())) {
            assertThat(run("echo_client.py", "127.0.0.1:" + server.port()))
                    .contains("gzip ok", "deflate ok", "concurrent ok", "after cancel ok");
            server.awaitNothingLent();
        }
    }

    @Test
    void shouldServeTheCCoreOverAUnixDomainSocket() throws Exception {
        Path socket = directory.resolve("socket");
        try (TestServer server = TestServer.onUnixSocket(socket, EchoService.definition())) {
            assertThat(run("echo_client.py", "unix:" + socket))
                    .contains("gzip ok", "deflate ok", "concurrent ok", "after cancel ok");
            server.awaitNothingLent();
        }
    }

    @Test
    void shouldPassTheInteroperabilityCasesWithTheCCore() throws Exception {
        try (ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
                TestServer server = TestServer.start(
                        ServerInterceptors.intercept(new TestServiceImpl(executor), TestServiceImpl.interceptors()))) {
            assertThat(run("interop_client.py", "127.0.0.1:" + server.port()))
                    .contains("timeout_on_sleeping_server ok", "special_status_message ok", "unimplemented_service ok")
                    .hasSize(16);
            server.awaitNothingLent();
            executor.shutdownNow(); // what the sleeping server would still send
        }
    }
}
