// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A second JVM that owns a shared-memory object ({@link RegionOwner}) or memory of a GPU ({@link CudaOwner}). Closing
 * it kills it, and removes the object that it could not.
 */
final class ClientProcess implements AutoCloseable {
    private static final long DEADLINE_SECONDS = 30;

    private final String name;
    private final Process process;
    private final BufferedReader output;
    private final PrintStream input;
    private String key = "";

    private ClientProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.input = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /**
     * A client with an object of {@code byteSize} bytes, each of which is 7; {@code name} is a POSIX name or "sealed".
     */
    static ClientProcess start(String name, long byteSize) {
        return start(name, RegionOwner.class, name, Long.toString(byteSize));
    }

    /** A client with {@code byteSize} bytes on a GPU, each of which is 7. */
    static ClientProcess startOnGpu(int device, long byteSize) {
        return start("gpu", CudaOwner.class, Integer.toString(device), Long.toString(byteSize));
    }

    private static ClientProcess start(String name, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        ClientProcess client;
        try {
            client = new ClientProcess(
                    name,
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
        try {
            String line = client.line();
            if (!line.startsWith("key ")) {
                throw new AssertionError("the client said '" + line + "' where its key was expected");
            }
            client.key = line.substring("key ".length());
            return client;
        } catch (RuntimeException | Error e) {
            client.close();
            throw e;
        }
    }

    String key() {
        return key;
    }

    /** The handle of its memory, where that is on a GPU. */
    byte[] handle() {
        return HexFormat.of().parseHex(key);
    }

    /** Sends a command and returns the client's line. */
    String tell(String command) {
        input.println(command);
        return line();
    }

    /** Sends a command whose {@link #answer} is read later. */
    void send(String command) {
        input.println(command);
    }

    /** Whether there is something to read, or the client is gone. */
    boolean hasAnswered() {
        try {
            return output.ready() || !process.isAlive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The client's next line. */
    String answer() {
        return line();
    }

    /** Ends the client as {@code kill -9} does, and waits until it is gone. */
    void kill() {
        process.destroyForcibly();
        process.onExit().orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
    }

    private String line() {
        return CompletableFuture.supplyAsync(() -> {
                    try {
                        return String.valueOf(output.readLine());
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .join();
    }

    @Override
    public void close() {
        kill();
        if (name.startsWith("/")) {
            try {
                Files.deleteIfExists(Path.of("/dev/shm" + name));
            } catch (IOException e) {
                throw new UncheckedIOException("the client's object " + name + " cannot be removed", e);
            }
        }
    }
}
