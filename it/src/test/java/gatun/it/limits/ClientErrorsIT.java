// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.testing.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Errors of clients are counted, and do not fill the log: gRPC is plain here, HTTP over TLS and plain on the metrics'
 * port.
 */
@Timeout(120)
class ClientErrorsIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int MANY = 2000;
    private static final String HALF_HEAD = "POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nConte";
    private static final String HALF_BODY =
            "POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"inputs\"";
    private static final String TWO_HOSTS = "GET /v2 HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n";
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final String SETTINGS = "\0\0\0\4\0\0\0\0\0";
    private static final String PUSH_PROMISE = "\0\0\4\5\4\0\0\0\1\0\0\0\2";
    private static final String PING = "\0\0\10\6\0\0\0\0\0gatungat";

    @AutoClose
    private static ServerProcess plain;

    @AutoClose
    private static ServerProcess secured;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        Certificates.Identity identity = new Certificates(folder).identity("server");
        plain = ServerProcess.launch(ServerProcess.exampleModels());
        secured = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--http-server-cert=" + identity.certificate(),
                "--http-server-key=" + identity.key(),
                "--grpc-use-ssl=true",
                "--grpc-server-cert=" + identity.certificate(),
                "--grpc-server-key=" + identity.key());
    }

    /**
     * Sends {@code bytes} over a new connection; waits for the server's response where {@code patient}, else leaves at
     * once.
     */
    private static void send(int port, String bytes, boolean patient) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) LIMIT.toMillis());
            socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
            if (patient) {
                socket.getInputStream().readAllBytes();
            }
        }
    }

    private static void awaitCount(ServerProcess server, String protocol, String cause, int count) throws Exception {
        String line = "gatun_client_errors{cause=\"" + cause + "\",protocol=\"" + protocol + "\"} " + count;
        // Connections end when their threads have seen that their clients are gone.
        Await.until(line, () -> metrics(server).lines().anyMatch(line::equals));
    }

    private static String metrics(ServerProcess server) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create(server.metrics().toString()))
                                    .timeout(LIMIT)
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    private static long lines(ServerProcess server) {
        return server.log().lines().count();
    }

    @Test
    void shouldCountClientsThatLeaveAmidARequestWithoutALine() throws Exception {
        long before = lines(plain);

        for (int i = 0; i < MANY; i++) {
            send(plain.httpPort(), i % 2 == 0 ? HALF_HEAD : HALF_BODY, false);
        }

        awaitCount(plain, "http", "disconnected", MANY);
        assertThat(lines(plain)).isEqualTo(before);
    }

    @Test
    void shouldCountMalformedRequestsAndTellOfThemNowAndThen() throws Exception {
        long before = lines(plain);
        long began = System.nanoTime();

        for (int i = 0; i < MANY; i++) {
            send(plain.httpPort(), TWO_HOSTS, true);
        }

        awaitCount(plain, "http", "malformed", MANY);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        assertThat(lines(plain) - before).isBetween(1L, seconds + 2);
        assertThat(plain.log()).contains("A client's connection over http ended: ");
    }

    @Test
    void shouldCountWhatIsNotHttp2() throws Exception {
        for (int i = 0; i < 3; i++) {
            send(plain.grpcPort(), PREFACE + SETTINGS + PUSH_PROMISE, true);
        }
        send(plain.grpcPort(), TWO_HOSTS, true);

        awaitCount(plain, "grpc", "malformed", 4);
    }

    @Test
    void shouldCountFloods() throws Exception {
        send(plain.grpcPort(), PREFACE + SETTINGS + PING.repeat(20_000), true);

        awaitCount(plain, "grpc", "flood", 1);
    }

    @Test
    void shouldCountHandshakesThatFail() throws Exception {
        send(secured.httpPort(), TWO_HOSTS, true);
        send(secured.grpcPort(), PREFACE, true);

        awaitCount(secured, "https", "tls", 1);
        awaitCount(secured, "grpcs", "tls", 1);
    }
}
