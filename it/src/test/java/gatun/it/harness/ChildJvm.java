// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A client in a second process: a main class of the test class path. Owns the process: closing it kills it, and removes
 * the shared memory objects that the process could not remove.
 */
public final class ChildJvm implements AutoCloseable {
    private static final int KILL_SECONDS = 20;

    private final Process process;
    private final PrintStream input;
    private final Thread reader;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private ChildJvm(Process process) {
        this.process = process;
        this.input = new PrintStream(process.getOutputStream(), true, UTF_8);
        this.reader = Thread.ofPlatform().daemon().name("child-output").start(this::readLines);
    }

    /** Runs a main class of the tests. */
    public static ChildJvm launch(Class<?> main, String... arguments) {
        return launch(Map.of(), main, arguments);
    }

    /** Runs a main class of the tests with more environment. */
    public static ChildJvm launch(Map<String, String> environment, Class<?> main, String... arguments) {
        return launch(System.getProperty("java.class.path"), environment, main.getName(), List.of(arguments));
    }

    /** Runs a main class of any class path with more environment. */
    public static ChildJvm launch(
            String classPath, Map<String, String> environment, String main, List<String> arguments) {
        return launch(List.of("--enable-native-access=ALL-UNNAMED"), classPath, environment, main, arguments);
    }

    /** Runs a main class of the tests with these flags of the JVM and no others: it is warned of native access. */
    public static ChildJvm launchPlainly(List<String> flags, Class<?> main, String... arguments) {
        return launch(flags, System.getProperty("java.class.path"), Map.of(), main.getName(), List.of(arguments));
    }

    private static ChildJvm launch(
            List<String> flags,
            String classPath,
            Map<String, String> environment,
            String main,
            List<String> arguments) {
        List<String> command =
                new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(), "-Xmx128m"));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(arguments);
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(environment);
            return new ChildJvm(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    /** Waits for a line that begins so, and returns the rest of it. */
    public String awaitLine(String prefix, Duration limit) throws InterruptedException {
        List<String> seen = new ArrayList<>();
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError("no line '" + prefix + "' within " + limit + "; output so far: " + seen);
            }
            if (line.startsWith(prefix)) {
                return line.substring(prefix.length()).strip();
            }
            seen.add(line);
        }
    }

    /** Writes a line to its input. */
    public void send(String line) {
        input.println(line);
    }

    /** Waits until it ends by itself with status 0, and returns the lines that nobody has awaited. */
    public List<String> awaitEnd(Duration limit) throws InterruptedException {
        boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        reader.join(limit);
        List<String> rest = new ArrayList<>();
        lines.drainTo(rest);
        if (!ended || process.exitValue() != 0) {
            throw new AssertionError((ended ? "ended with " + process.exitValue() : "did not end within " + limit)
                    + "; output: " + String.join("\n", rest));
        }
        return rest;
    }

    /** Kills it, so that it cannot clean up. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(KILL_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the process " + process.pid() + " cannot be killed");
        }
    }

    private void readLines() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("output broke off: " + e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(KILL_SECONDS, TimeUnit.SECONDS).join();
        SharedObject.removeAllOf(process.pid());
    }
}
