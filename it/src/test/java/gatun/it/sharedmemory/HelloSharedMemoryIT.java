// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.ChildJvm;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shortest programs that use shared memory, in Java and in Python; the guide of the client shows the one in Java. */
@Timeout(120)
class HelloSharedMemoryIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SUMS = "[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]";

    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples("--allow-client-shm");

    @Test
    void shouldShowInTheGuideWhatRuns() throws IOException {
        Path source = ServerProcess.root().resolve("examples/src/main/java/gatun/examples/HelloSharedMemory.java");
        List<String> program = Files.readAllLines(source).stream()
                .dropWhile(line -> !line.startsWith("import "))
                .toList();
        assertThat(program).hasSizeLessThan(15);
        assertThat(Files.readString(ServerProcess.root().resolve("docs/guides/client.md")))
                .contains("```java\n" + String.join("\n", program) + "\n```\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "grpc"})
    void shouldRunInJava(String protocol) throws Exception {
        Path client = ServerProcess.root().resolve("examples/target/digit/lib");
        assumeThat(client)
                .as("the example clients, which 'mvn verify' builds before the server")
                .isDirectory();
        String url =
                protocol.equals("http") ? server.process().ready("http.url") : "grpc://127.0.0.1:" + server.grpcPort();
        try (ChildJvm hello =
                ChildJvm.launch(client + "/*", Map.of(), "gatun.examples.HelloSharedMemory", List.of(url))) {
            assertThat(hello.awaitEnd(LIMIT)).contains(SUMS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sealed", "posix"})
    void shouldRunInPython(String memory, @TempDir Path folder) throws Exception {
        Path output = folder.resolve("output");
        Path script = ServerProcess.root().resolve("examples/python/shared_memory.py");
        Process python = new ProcessBuilder(new ArrayList<>(List.of(
                        Python.with(),
                        script.toString(),
                        "--url=" + server.process().ready("http.url"),
                        "--memory=" + memory)))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = python.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        python.destroyForcibly();
        List<String> lines = Files.readAllLines(output);
        assertThat(ended && python.exitValue() == 0)
                .as(String.join("\n", lines))
                .isTrue();
        assertThat(lines)
                .startsWith(
                        "sum:        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
                        "difference: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
                        "sum:        2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17")
                .hasSize(6);
    }
}
