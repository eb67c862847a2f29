// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A real Redis server on the loopback address, of the program {@code redis-server} on the path. Owns the process. */
public final class RedisServer implements AutoCloseable {
    private static final int STOP_SECONDS = 30;

    private final Process process;
    private final int port;

    private RedisServer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Whether the program is there. */
    public static boolean isInstalled() {
        try {
            return new ProcessBuilder("redis-server", "--version")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Starts a server that keeps nothing on disk, and waits until it takes connections: by TLS where the options name
     * a certificate.
     *
     * @param options more of its options, such as {@code --requirepass}
     */
    public static RedisServer start(String... options) throws IOException, InterruptedException {
        return FreePorts.start(ports -> startAt(ports.getAsInt(), options));
    }

    /** Starts one where another was. */
    public static RedisServer startAt(int port, String... options) throws IOException {
        boolean secured = List.of(options).contains("--tls-cert-file");
        List<String> command = new ArrayList<>(List.of("redis-server", "--bind", "127.0.0.1", "--save", ""));
        command.addAll(List.of("--port", secured ? "0" : Integer.toString(port)));
        if (secured) {
            command.addAll(List.of("--tls-port", Integer.toString(port)));
        }
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder said = new StringBuilder();
        while (true) {
            Optional<String> line = Optional.ofNullable(output.readLine());
            if (line.isEmpty()) {
                throw new AssertionError("the Redis server did not start: " + said);
            }
            said.append(line.get()).append('\n');
            if (line.get().contains("Ready to accept connections")) {
                break;
            }
        }
        Thread.ofPlatform().daemon().start(() -> output.lines().forEach(line -> {})); // so that it never blocks
        return new RedisServer(process, port);
    }

    /** Where it listens. */
    public int port() {
        return port;
    }

    /** Ends it as a crash would, and waits for that. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the Redis server does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
