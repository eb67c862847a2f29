// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerProcess;
import gatun.testing.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The memory that idle connections cost the server, inside and outside of its heap. */
@Timeout(120)
class IdleConnectionsIT {
    private static final int MANY = 1000;
    private static final int HANDSHAKES = 100;
    private static final int PLAIN_KIB = 16;
    private static final int TLS_KIB = 48;

    /**
     * The growth of a process without any cause by its clients: compiled code, memory that the collector has not given
     * back.
     */
    private static final long SLACK_KIB = 32 * 1024;

    private static final int LIMIT_MILLIS = 20_000;
    private static final Pattern USED = Pattern.compile("(?:PSYoungGen|ParOldGen) +total \\d+K, used (\\d+)K");
    private static final String LIVE = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /** The beginning of a record of a handshake, of which the rest never comes. */
    private static final byte[] PART_OF_HELLO = {22, 3, 1, 2, 0, 1, 0, 1};

    @TempDir
    static Path folder;

    @AutoClose
    private static ServerProcess plain;

    @AutoClose
    private static ServerProcess secured;

    private static Certificates.Identity identity;

    private final List<Socket> open = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        identity = new Certificates(folder).identity("server");
        plain = ServerProcess.launch(ServerProcess.exampleModels());
        secured = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--tls-handshake-timeout-secs=6",
                "--http-server-cert=" + identity.certificate(),
                "--http-server-key=" + identity.key(),
                "--grpc-use-ssl",
                "--grpc-server-cert=" + identity.certificate(),
                "--grpc-server-key=" + identity.key());
    }

    @AfterEach
    void closeAll() throws IOException {
        for (Socket socket : open) {
            socket.close();
        }
    }

    private Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        open.add(socket);
        socket.setSoTimeout(LIMIT_MILLIS);
        return socket;
    }

    private Socket handshake(int port, String protocol) throws Exception {
        SSLSocketFactory factory =
                Certificates.client(identity.certificate(), Optional.empty()).getSocketFactory();
        SSLSocket socket = (SSLSocket) factory.createSocket(connect(port), "localhost", port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    private static void requireLive(Socket socket) throws IOException {
        socket.getOutputStream().write(LIVE.getBytes(US_ASCII));
        assertThat(new String(socket.getInputStream().readNBytes(12), US_ASCII)).isEqualTo("HTTP/1.1 200");
    }

    private static String jcmd(ServerProcess server, String command) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(server.handle().pid()),
                        command)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(LIMIT_MILLIS, TimeUnit.MILLISECONDS)).isTrue();
        return output;
    }

    private static long heapKib(ServerProcess server) throws Exception {
        jcmd(server, "GC.run");
        return USED.matcher(jcmd(server, "GC.heap_info"))
                .results()
                .mapToLong(found -> Long.parseLong(found.group(1)))
                .sum();
    }

    private static long residentKib(ServerProcess server) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(server.handle().pid()), "status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    private interface Opening {
        void open() throws Exception;
    }

    private static void requireCost(ServerProcess server, int count, int eachKib, Opening opening) throws Exception {
        long heap = heapKib(server);
        long resident = residentKib(server);
        opening.open();
        assertThat((heapKib(server) - heap) / count).as("heap, KiB each").isLessThanOrEqualTo(eachKib);
        assertThat(residentKib(server) - resident)
                .as("resident, KiB")
                .isLessThanOrEqualTo((long) count * eachKib + SLACK_KIB);
    }

    @Test
    void shouldKeepLittleForHttpConnectionsThatAreIdleOrStalled() throws Exception {
        requireCost(plain, MANY, PLAIN_KIB, () -> {
            for (int i = 0; i < MANY; i++) {
                Socket socket = connect(plain.httpPort());
                if (i % 2 == 0) {
                    socket.getOutputStream()
                            .write("POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nX: "
                                    .getBytes(US_ASCII));
                } else {
                    requireLive(socket);
                }
            }
        });
        requireLive(connect(plain.httpPort()));
    }

    @Test
    void shouldKeepLittleForConnectionsOverTls() throws Exception {
        requireLive(handshake(secured.httpPort(), "http/1.1")); // loads what the first handshake needs, once
        requireCost(secured, HANDSHAKES, TLS_KIB, () -> {
            for (int i = 0; i < HANDSHAKES; i++) {
                requireLive(handshake(secured.httpPort(), "http/1.1"));
            }
        });
    }

    @Test
    void shouldGiveUpHandshakesThatStallAndKeepLittleForThemUntilThen() throws Exception {
        List<Socket> stalled = new ArrayList<>();
        requireCost(secured, MANY, TLS_KIB, () -> {
            for (int i = 0; i < MANY; i++) {
                Socket socket = connect(i % 2 == 0 ? secured.httpPort() : secured.grpcPort());
                socket.getOutputStream().write(PART_OF_HELLO, 0, i % (PART_OF_HELLO.length + 1));
                stalled.add(socket);
            }
        });
        requireLive(handshake(secured.httpPort(), "http/1.1"));
        for (Socket socket : stalled) {
            assertThat(socket.getInputStream().read()).as("the end").isNegative();
        }
    }
}
