// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs a program with a small {@code /dev/shm} of its own, where the system lets this user mount one. */
final class SmallFileSystem {
    private static final long DEADLINE_SECONDS = 60;

    private SmallFileSystem() {}

    /** The lines that {@code program} prints; it has to end with status 0. */
    static List<String> run(Class<?> program, long byteSize) throws Exception {
        String mount = "mount -t tmpfs -o size=" + byteSize + " tmpfs /dev/shm";
        assumeTrue(
                start("unshare", "--mount", "sh", "-c", mount).succeeded(),
                "this user cannot mount a file system, so a full one is not tested");
        Outcome outcome = start(
                "unshare",
                "--mount",
                "sh",
                "-c",
                mount + " && exec \"$@\"",
                "sh",
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName());
        assertThat(outcome.succeeded()).as(String.join("\n", outcome.lines())).isTrue();
        return outcome.lines();
    }

    private record Outcome(boolean succeeded, List<String> lines) {}

    private static Outcome start(String... command) throws Exception {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            // No such program here.
            return new Outcome(false, List.of(String.valueOf(e.getMessage())));
        }
        CompletableFuture<List<String>> lines = CompletableFuture.supplyAsync(
                () -> process.inputReader(StandardCharsets.UTF_8).lines().toList());
        try {
            List<String> printed = lines.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            return new Outcome(
                    process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0, printed);
        } finally {
            process.destroyForcibly();
        }
    }
}
