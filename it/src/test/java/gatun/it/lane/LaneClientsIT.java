// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.it.harness.ServerProcess;
import gatun.testing.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The clients of lanes in C and in Python, which share no code with the server. */
@Timeout(120)
class LaneClientsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    static Path folder;

    private static ServerProcess server;
    private static Path socket;

    @BeforeAll
    static void start() throws Exception {
        socket = folder.resolve("http");
        server = ServerProcess.launch(
                ServerProcess.exampleModels(), "--allow-client-shm", "--http-unix-socket=" + socket);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void shouldServeTheCameraInC() throws Exception {
        String compiler = System.getenv().getOrDefault("CC", "cc");
        assumeThat(runs(compiler, "--version")).as("a C compiler").isTrue();
        Path camera = folder.resolve("camera");
        Path source = ServerProcess.root().resolve("examples/lane/camera.c");
        output(compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", camera.toString(), source.toString());
        // The sums of frame n are n and 0 to 15 more: 16 n + 120.
        assertThat(output(camera.toString(), socket.toString(), "1000"))
                .singleElement()
                .asString()
                .startsWith("sum " + (16L * 999 * 1000 / 2 + 120 * 1000) + " of 1000 frames");
    }

    @Test
    void shouldServePython() throws Exception {
        Path script = Files.writeString(folder.resolve("lane_test.py"), """
                import sys
                sys.path.insert(0, sys.argv[2])
                from gatun_lane import Lane, LaneError

                with Lane(sys.argv[1], data_bytes=65536) as lane:
                    simple = lane.prepare("simple", {"INPUT0": "INT32", "INPUT1": "INT32"}, ["OUTPUT0", "OUTPUT1"])
                    left, right, total, difference = [lane.array((1, 16), "INT32") for _ in range(4)]
                    right[:] = 2
                    for i in range(200):
                        left[:] = i
                        simple.infer([left, right], [total, difference])
                        assert (total == i + 2).all() and (difference == i - 2).all()
                    strings = lane.prepare("simple_string", {"INPUT0": "BYTES", "INPUT1": "BYTES"}, ["OUTPUT0"])
                    words = b"".join([b"\\x02\\x00\\x00\\x0040"] * 16)
                    a, b, c = lane.array(len(words), "BYTES"), lane.array(len(words), "BYTES"), lane.array(1024, "BYTES")
                    a[:] = list(words)
                    b[:] = list(words)
                    answer, = strings.infer([a, b], [c], shapes=[(1, 16), (1, 16)])
                    assert bytes(answer) == b"\\x02\\x00\\x00\\x0080" * 16
                    repeat = lane.prepare("repeat_int32", {"IN": "INT32", "DELAY": "UINT32", "WAIT": "UINT32"}, ["OUT"])
                    numbers, delays = lane.array(3, "INT32"), lane.array(3, "UINT32")
                    wait, out = lane.array(1, "UINT32"), lane.array(1, "INT32")
                    numbers[:] = [4, 5, 6]
                    print([int(value[0]) for value, in repeat.stream([numbers, delays, wait], [out])])
                    total_of = lane.prepare("running_sum", {"INPUT": "INT32"}, ["OUTPUT"])
                    step, so_far = lane.array((1, 1), "INT32"), lane.array((1, 1), "INT32")
                    step[:] = 3
                    for i in range(3):
                        total_of.infer([step], [so_far], sequence=5, start=i == 0, end=i == 2)
                    print(int(so_far[0, 0]))
                    try:
                        simple.infer([left], [total, difference])
                    except LaneError as error:
                        print(error.code)
                """);
        assertThat(output(
                        Python.with("numpy"),
                        script.toString(),
                        socket.toString(),
                        ServerProcess.root().resolve("examples/python").toString()))
                .containsExactly("[4, 5, 6]", "9", "3");
    }

    private static boolean runs(String... command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static List<String> output(String... command) throws Exception {
        Path output = Files.createTempFile(folder, "output", "");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        List<String> lines = Files.readAllLines(output);
        assertThat(ended && process.exitValue() == 0)
                .as(String.join("\n", lines))
                .isTrue();
        return lines;
    }
}
