// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A {@link BenchServer} in a process of its own, with the flags that the launcher gives. */
final class BenchProcess implements AutoCloseable {
    private final Process process;
    private final int httpPort;
    private final int grpcPort;

    private BenchProcess(Process process, int httpPort, int grpcPort) {
        this.process = process;
        this.httpPort = httpPort;
        this.grpcPort = grpcPort;
    }

    /** Starts a server of the models in {@code repository} and waits until it is ready. */
    static BenchProcess start(Path repository) throws IOException {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseParallelGC",
                        "-Xmx512m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BenchServer.class.getName(),
                        repository.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String[] ready = String.valueOf(output.readLine()).split(" ", -1);
        if (!ready[0].equals("ready")) {
            process.destroyForcibly();
            throw new IllegalStateException("the server did not start: " + String.join(" ", ready));
        }
        return new BenchProcess(process, Integer.parseInt(ready[1]), Integer.parseInt(ready[2]));
    }

    long pid() {
        return process.pid();
    }

    /** The process, to be measured under load. */
    LoadedServer underLoad() {
        return new LoadedServer(pid(), this::allocatedBytes);
    }

    int httpPort() {
        return httpPort;
    }

    int grpcPort() {
        return grpcPort;
    }

    /** Bytes of the heap that all threads of the server have taken since it began. */
    private long allocatedBytes() {
        try (InputStream answer = URI.create("http://127.0.0.1:" + httpPort + "/allocated")
                .toURL()
                .openStream()) {
            return Long.parseLong(new String(answer.readAllBytes(), StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException("the server is gone", e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
