// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real server in a process of its own. Owns the process. */
public final class ServerProcess implements AutoCloseable {
    private static final int START_SECONDS = 60;
    private static final int STOP_SECONDS = 60;

    private final Process process;
    private final Properties ready;

    private ServerProcess(Process process, Properties ready) {
        this.process = process;
        this.ready = ready;
    }

    /**
     * Starts the server's main class on this process's class path.
     *
     * @param folder for what it prints, its log and the file that says that it is ready
     * @param virtualMachine flags of its virtual machine
     * @param flags flags of {@code gatun serve}
     */
    public static ServerProcess serve(Path folder, List<String> virtualMachine, List<String> flags)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-XX:+UseParallelGC");
        command.addAll(virtualMachine);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "gatun.server.Main", "serve"));
        command.addAll(flags);
        return start(folder, new ProcessBuilder(command));
    }

    /**
     * Starts {@code server}, a command that ends with flags of {@code gatun serve}, and waits until it is ready.
     *
     * @throws IllegalStateException when it does not start; its log tells why
     */
    public static ServerProcess start(Path folder, ProcessBuilder server) throws IOException, InterruptedException {
        Path readyFile = folder.resolve("ready");
        Path log = folder.resolve("log");
        List<String> command = new ArrayList<>(server.command());
        command.add("--ready-file=" + readyFile);
        Process process = server.command(command)
                .redirectOutput(folder.resolve("out").toFile())
                .redirectError(log.toFile())
                .start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!Files.exists(readyFile)) {
            boolean ended = process.waitFor(50, TimeUnit.MILLISECONDS);
            if (ended || System.nanoTime() > deadline) {
                process.destroyForcibly();
                throw new IllegalStateException("the server did not start:\n" + Files.readString(log));
            }
        }
        Properties ready = new Properties();
        try (Reader in = Files.newBufferedReader(readyFile)) {
            ready.load(in);
        }
        return new ServerProcess(process, ready);
    }

    /** The number of the process. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Where HTTP is served. */
    public int httpPort() {
        return Integer.parseInt(ready.getProperty("http.port"));
    }

    /** Where gRPC is served. */
    public int grpcPort() {
        return Integer.parseInt(ready.getProperty("grpc.port"));
    }

    /** Stops it as operators do; kills it when it does not. */
    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException("the server did not stop within " + STOP_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }

    /** Deletes a folder and all that is in it. */
    public static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            // Folders after what is in them.
            for (Path file : Arrays.asList(files.toArray(Path[]::new)).reversed()) {
                Files.delete(file);
            }
        }
    }
}
