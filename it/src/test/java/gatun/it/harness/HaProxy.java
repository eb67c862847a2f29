// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import gatun.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real HAProxy, of the program {@code haproxy}. Owns the process. */
public final class HaProxy implements AutoCloseable {
    private static final int STOP_SECONDS = 30;

    /** Where Debian has it, which is on the path of administrators only. */
    private static final Path PROGRAM = Path.of("/usr/sbin/haproxy");

    /** Runs a program with as many open files as a shell's user mostly may have. */
    private static final List<String> FEW_FILES = List.of("sh", "-c", "ulimit -n 1024 && exec \"$@\"", "sh");

    private final Process process;
    private final Path socket;
    private final Path output;

    private HaProxy(Process process, Path socket, Path output) {
        this.process = process;
        this.socket = socket;
        this.output = output;
    }

    /** Whether the program is there. */
    public static boolean isInstalled() {
        return Files.isExecutable(PROGRAM);
    }

    /**
     * Starts it with few open files, and waits until it answers at its socket.
     *
     * @param socket the {@code stats socket} that the configuration names
     */
    public static HaProxy start(Path configuration, Path socket) throws IOException {
        Path output = configuration.resolveSibling("haproxy.out");
        List<String> command = new ArrayList<>(FEW_FILES);
        command.addAll(List.of(PROGRAM.toString(), "-db", "-f", configuration.toString()));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        HaProxy proxy = new HaProxy(process, socket, output);
        Await.until("HAProxy", () -> {
            if (!process.isAlive()) {
                throw new AssertionError("HAProxy did not start: " + Files.readString(output));
            }
            return Files.exists(socket);
        });
        return proxy;
    }

    /** Waits until it counts a server as one to which requests may go, or not. */
    public void awaitState(String backend, String server, boolean up) {
        String begin = up ? "UP" : "DOWN";
        Await.until(backend + "/" + server + " is " + begin, () -> value(backend, server, "status")
                .equals(begin));
    }

    /** How many requests it has sent to a server. */
    public long requests(String backend, String server) {
        return Long.parseLong(value(backend, server, "stot"));
    }

    private String value(String backend, String server, String column) {
        List<String> lines = statistics().lines().toList();
        int index = List.of(lines.getFirst().replace("# ", "").split(",")).indexOf(column);
        return lines.stream()
                .map(line -> line.split(",", -1))
                .filter(line -> line[0].equals(backend) && line[1].equals(server))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no server " + backend + "/" + server + " in " + lines))[index];
    }

    private String statistics() {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                InputStream in = Channels.newInputStream(channel)) {
            channel.write(ByteBuffer.wrap("show stat\n".getBytes(StandardCharsets.US_ASCII)));
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("HAProxy does not answer" + transcript(), e);
        }
    }

    private String transcript() {
        try {
            return "\n" + Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("HAProxy did not stop within " + STOP_SECONDS + " s" + transcript());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
