// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Another machine as far as the network goes: a network namespace with a cable to this machine, which the system lets
 * root make. It has this machine's files, shared memory among them.
 */
public final class OtherMachine implements AutoCloseable {
    private static final int LIMIT_SECONDS = 30;

    /** Networks for measurements, which lead nowhere. */
    private static final String NETWORK = "198.18.";

    private final Process namespace;
    private final String link;
    private final String server;

    private OtherMachine(Process namespace, String link, String server) {
        this.namespace = namespace;
        this.link = link;
        this.server = server;
    }

    /** Connects it; skips the test where the system does not let this user do that. */
    public static OtherMachine connect() throws Exception {
        long pid = ProcessHandle.current().pid();
        String link = "gatun" + pid % 1_000_000;
        String network = NETWORK + pid % 256 + ".";
        Process namespace;
        try {
            namespace = new ProcessBuilder("unshare", "--net", "sh", "-c", "echo ready; exec cat")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "unshare is not installed: " + e.getMessage());
            throw e;
        }
        OtherMachine machine = new OtherMachine(namespace, link, network + "1");
        try {
            boolean ready = namespace.inputReader(StandardCharsets.US_ASCII).readLine() != null;
            assumeTrue(
                    ready && isInstalled("ip") && isInstalled("nsenter"),
                    "this user cannot make a network namespace (Debian: as root, with iproute2)");
            String inside = Long.toString(namespace.pid());
            run("ip", "link", "add", link, "type", "veth", "peer", "name", "server", "netns", inside);
            run("ip", "address", "add", network + "1/30", "dev", link);
            run("ip", "link", "set", link, "up");
            machine.execute("ip", "address", "add", network + "2/30", "dev", "server");
            machine.execute("ip", "link", "set", "server", "up");
            return machine;
        } catch (Throwable t) {
            machine.close();
            throw t;
        }
    }

    private static boolean isInstalled(String program) {
        return List.of("/usr/sbin", "/sbin", "/usr/bin", "/bin").stream()
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** The address at which this machine is for that one. */
    public String server() {
        return server;
    }

    /** Runs a program there, which must end with status 0, and returns what it printed. */
    public String execute(String... command) throws Exception {
        List<String> there =
                new ArrayList<>(List.of("nsenter", "--target", Long.toString(namespace.pid()), "--net", "--"));
        there.addAll(List.of(command));
        return run(there.toArray(String[]::new));
    }

    private static String run(String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().merge("PATH", "/usr/sbin:/sbin", (path, more) -> path + ":" + more);
        Process process = builder.start();
        try {
            CompletableFuture<String> printed = CompletableFuture.supplyAsync(() -> {
                try {
                    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                } catch (IOException e) {
                    return e.toString();
                }
            });
            String output = printed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue())
                    .as(String.join(" ", command) + "\n" + output)
                    .isZero();
            return output;
        } finally {
            process.destroyForcibly();
        }
    }

    /** Removes the cable, which the system would do some time after the end of the namespace. */
    @Override
    public void close() {
        try {
            if (Files.exists(Path.of("/sys/class/net", link))) {
                run("ip", "link", "delete", link);
            }
        } catch (Exception e) {
            throw new AssertionError(link + " cannot be removed", e);
        } finally {
            namespace.destroyForcibly().onExit().join();
        }
    }
}
