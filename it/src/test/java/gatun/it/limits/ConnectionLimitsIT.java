// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerExtension;
import gatun.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** More connections than a server takes, or has file descriptors for. */
@Timeout(120)
class ConnectionLimitsIT {
    private static final int MOST = 12;
    private static final int MOST_PER_ADDRESS = 8;
    private static final int LIMIT_MILLIS = 20_000;
    private static final String LIVE = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(US_ASCII);
    private static final String OTHER = "127.0.0.2";

    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples(
            "--max-connections=" + MOST, "--max-connections-per-address=" + MOST_PER_ADDRESS);

    private final List<Socket> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (Socket socket : open) {
            socket.close();
        }
        awaitMetric("gatun_connections{protocol=\"http\"} 0\n");
        awaitMetric("gatun_connections{protocol=\"grpc\"} 0\n");
    }

    private Socket connect(String from, int port) throws IOException {
        Socket socket = new Socket();
        open.add(socket);
        socket.setSoTimeout(LIMIT_MILLIS);
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    private Socket connect() throws IOException {
        return connect("127.0.0.1", server.httpPort());
    }

    private static void ask(Socket socket) throws IOException {
        socket.getOutputStream().write(LIVE.getBytes(US_ASCII));
    }

    private static String answer(Socket socket) throws IOException {
        byte[] first = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
        return new String(first, US_ASCII) + new String(more(socket), US_ASCII);
    }

    private static byte[] more(Socket socket) throws IOException {
        byte[] more = new byte[4096];
        int count = socket.getInputStream().read(more);
        return count < 0 ? new byte[0] : Arrays.copyOf(more, count);
    }

    private static String metrics() throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create(
                                            server.process().metrics().toString()))
                                    .timeout(Duration.ofMillis(LIMIT_MILLIS))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    private static void awaitMetric(String line) throws Exception {
        // Connections end when their threads have seen that their clients are gone.
        Await.until(line, () -> metrics().contains(line));
    }

    @Test
    void shouldRefuseConnectionsOfAnAddressThatHasTooManyAndServeOthers() throws Exception {
        for (int i = 0; i < MOST_PER_ADDRESS; i++) {
            connect();
        }
        Socket refused = connect();
        ask(refused);
        assertThat(new String(refused.getInputStream().readAllBytes(), US_ASCII))
                .startsWith("HTTP/1.1 503 ")
                .containsIgnoringCase("\r\nConnection: close\r\n")
                .contains("\r\nRetry-After: ")
                .contains(
                        "{\"error\":\"your address has as many connections as --max-connections-per-address=8 allows");

        Socket other = connect(OTHER, server.httpPort());
        ask(other);
        assertThat(answer(other)).startsWith("HTTP/1.1 200");
        assertThat(metrics())
                .contains("gatun_connections{protocol=\"http\"} 9\n")
                .containsPattern("gatun_connections_refused\\{limit=\"address\"} [1-9]");

        open.getFirst().close();
        awaitMetric("gatun_connections{protocol=\"http\"} 8\n");
        open.get(1).close();
        awaitMetric("gatun_connections{protocol=\"http\"} 7\n");
        Socket next = connect();
        ask(next);
        assertThat(answer(next)).as("after others left").startsWith("HTTP/1.1 200");
    }

    @Test
    void shouldTellGrpcClientsThatThereAreTooManyConnections() throws Exception {
        for (int i = 0; i < MOST; i++) {
            connect(i < MOST_PER_ADDRESS ? "127.0.0.1" : OTHER, server.grpcPort());
        }
        awaitMetric("gatun_connections{protocol=\"grpc\"} 12\n");
        Socket refused = connect(OTHER, server.grpcPort());
        refused.getOutputStream().write(PREFACE);
        byte[] frames = refused.getInputStream().readAllBytes();
        assertThat(frames[3]).as("SETTINGS").isEqualTo((byte) 4);
        assertThat(frames[9 + 3]).as("GOAWAY").isEqualTo((byte) 7);
        assertThat(new String(frames, US_ASCII)).contains("the server has as many connections as --max-connections=12");
        assertThat(metrics()).as("operators see in").contains("gatun_connections_refused{limit=\"server\"}");
    }

    @Test
    void shouldGoOnAcceptingWhenThereAreFileDescriptorsAgain() throws Exception {
        Socket before = connect();
        ask(before);
        assertThat(answer(before)).startsWith("HTTP/1.1 200");
        long used;
        try (Stream<Path> descriptors = Files.list(
                Path.of("/proc", Long.toString(server.process().handle().pid()), "fd"))) {
            used = descriptors.count();
        }
        String soft = limit(Long.toString(used));
        try {
            List<Socket> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Socket socket = connect(OTHER, server.httpPort());
                ask(socket);
                waiting.add(socket);
            }
            Await.until("the log's line", () -> server.process().log().contains("Connections cannot be accepted"));
            assertThat(server.process().log())
                    .contains("Connections cannot be accepted, trying again: java.io.IOException: Too many");
            ask(before);
            assertThat(answer(before)).as("a connection that is there").startsWith("HTTP/1.1 200");
            limit(soft);
            for (Socket socket : waiting) {
                assertThat(answer(socket)).startsWith("HTTP/1.1 200");
            }
        } finally {
            limit(soft);
        }
    }

    /** Sets how many descriptors the server may have; returns the limit before. */
    private static String limit(String descriptors) throws Exception {
        String pid = Long.toString(server.process().handle().pid());
        String before = Files.readAllLines(Path.of("/proc", pid, "limits")).stream()
                .filter(line -> line.startsWith("Max open files"))
                .map(line -> line.split(" +", -1)[3])
                .findFirst()
                .orElseThrow();
        Process set = new ProcessBuilder("prlimit", "--pid=" + pid, "--nofile=" + descriptors + ":")
                .inheritIO()
                .start();
        assertThat(set.waitFor(10, TimeUnit.SECONDS) ? set.exitValue() : -1)
                .as("prlimit")
                .isZero();
        return before;
    }
}
