// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A second process for a test: a main class of the test class path. Its output is read line by line, its input is a
 * pipe. Closing it kills it, and removes the shared memory objects that it could not.
 */
final class ChildJvm implements AutoCloseable {
    private static final int KILL_SECONDS = 20;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> seen = new ArrayList<>();
    private final Thread reader;

    private ChildJvm(Process process) {
        this.process = process;
        this.reader = Thread.ofPlatform().daemon().name("child-output").start(this::readLines);
    }

    static ChildJvm launch(Class<?> main, List<String> jvmArguments, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-Xmx128m");
        command.addAll(jvmArguments);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        try {
            return new ChildJvm(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    static ChildJvm launch(Class<?> main, String... arguments) {
        return launch(main, List.of(), arguments);
    }

    /** Waits for a line that begins so, and returns the rest of it. */
    String awaitLine(String prefix, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            String line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError("no line '" + prefix + "' within " + limit + "; output so far: " + seen);
            }
            seen.add(line);
            if (line.startsWith(prefix)) {
                return line.substring(prefix.length()).strip();
            }
        }
    }

    void send(String line) {
        new PrintStream(process.getOutputStream(), true, UTF_8).println(line);
    }

    /** Waits for the end; 128 + the signal's number when a signal ended it, as a shell says. */
    int awaitExit(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("the process did not end within " + limit + "; output so far: " + output());
        }
        reader.join(limit.toMillis());
        return process.exitValue();
    }

    /** All lines so far. */
    List<String> output() {
        lines.drainTo(seen);
        return List.copyOf(seen);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().orTimeout(KILL_SECONDS, TimeUnit.SECONDS).join();
        SharedObject.removeAllOf(process.pid());
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
}
