// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import gatun.testing.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * The cost of idle connections: {@code jmh/run idle [COUNT]}. Starts the real server anew for each kind of connection,
 * opens COUNT connections (10,000) of that kind, and prints the growth of heap and resident memory per connection, the
 * totals, whether a request was answered beside them, and the resources left after they are closed.
 */
public final class IdleCost {
    private static final double KIB_PER_MIB = 1024;
    private static final int COUNT = 10_000;

    /** Opened and closed before anything is measured, so that classes and code are there. */
    private static final int FIRST = 500;

    private static final int LIMIT_MILLIS = 20_000;
    private static final String LIVE = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    private static final String PART_OF_RECORD = "\26\3\1\2\0\1\0\1";
    private static final String PART_OF_LONG_RECORD = "\26\3\1\10\0\1\0\7";
    private static final int MANY = 1500;

    private final Path root;
    private final int count;
    private final Certificates.Identity identity;
    private final SSLContext trust;

    private IdleCost(Path root, int count, Path folder) {
        this.root = root;
        this.count = count;
        this.identity = new Certificates(folder).identity("server");
        this.trust = Certificates.client(identity.certificate(), Optional.empty());
    }

    /** Prints the table. */
    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : COUNT;
        Path root = Path.of(System.getProperty("gatun.root", "."));
        IdleCost cost = new IdleCost(root, count, Files.createTempDirectory("gatun-idle"));
        System.out.printf(
                "| %,d connections | heap, KiB each | resident, KiB each | resident in all, MiB | heap left when"
                        + " closed, MiB |%n",
                count);
        System.out.println("|---|---|---|---|---|");
        cost.measure(
                "HTTP, half a head", false, server -> talk(plain(server.httpPort()), "POST /v2 HTTP/1.1\r\nHos", 0));
        cost.measure("HTTP, after a request", false, server -> talk(plain(server.httpPort()), LIVE, LIVE.length()));
        cost.measure("gRPC, a preface", false, server -> talk(plain(server.grpcPort()), PREFACE, 9));
        cost.measure("HTTPS, nothing sent", true, server -> plain(server.httpPort()));
        cost.measure(
                "HTTPS, stalled within a record", true, server -> talk(plain(server.httpPort()), PART_OF_RECORD, 0));
        cost.measure(
                "HTTPS, stalled within a long record",
                true,
                server -> talk(plain(server.httpPort()), PART_OF_LONG_RECORD + "x".repeat(MANY), 0));
        cost.measure(
                "HTTPS, after a request", true, server -> talk(cost.secured(server.httpPort(), "http/1.1"), LIVE, 12));
        cost.measure(
                "gRPC over TLS, a preface", true, server -> talk(cost.secured(server.grpcPort(), "h2"), PREFACE, 9));
    }

    private interface Opening {
        Socket open(SoakServer server) throws IOException;
    }

    private void measure(String kind, boolean tls, Opening opening) throws IOException, InterruptedException {
        String[] flags = !tls
                ? new String[0]
                : new String[] {
                    "--tls-handshake-timeout-secs=600",
                    "--http-server-cert=" + identity.certificate(),
                    "--http-server-key=" + identity.key(),
                    "--grpc-use-ssl=true",
                    "--grpc-server-cert=" + identity.certificate(),
                    "--grpc-server-key=" + identity.key()
                };
        try (SoakServer server = SoakServer.start(root, Files.createTempDirectory("gatun-idle"), flags)) {
            close(open(server, opening, FIRST));
            Vitals before = settled(server);
            List<Socket> sockets = open(server, opening, count);
            Vitals with = server.vitals();
            Socket beside = tls ? secured(server.httpPort(), "http/1.1") : plain(server.httpPort());
            talk(beside, LIVE, LIVE.length()).close();
            close(sockets);
            Vitals after = settled(server);
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %.1f | %.1f | %.0f | %.1f |%n",
                    kind,
                    (with.heapMib() - before.heapMib()) * KIB_PER_MIB / count,
                    (with.residentMib() - before.residentMib()) * KIB_PER_MIB / count,
                    with.residentMib() - before.residentMib(),
                    after.heapMib() - before.heapMib());
        }
    }

    private static List<Socket> open(SoakServer server, Opening opening, int count) throws IOException {
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sockets.add(opening.open(server));
        }
        return sockets;
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    /** The server's resources once the descriptors of closed connections are back and unused buffers are freed. */
    private static Vitals settled(SoakServer server) throws IOException, InterruptedException {
        Vitals vitals = server.vitals();
        Vitals last;
        do {
            Thread.sleep(3000); // buffers are freed when nobody needed them for two seconds
            last = vitals;
            vitals = server.vitals();
        } while (vitals.descriptors() < last.descriptors() || vitals.residentMib() < last.residentMib() - 1);
        return vitals;
    }

    private static Socket plain(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(LIMIT_MILLIS);
        return socket;
    }

    private Socket secured(int port, String protocol) throws IOException {
        SSLSocket socket = (SSLSocket) trust.getSocketFactory().createSocket(plain(port), "localhost", port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** Sends {@code bytes} and reads so many bytes of the response. */
    private static Socket talk(Socket socket, String bytes, int answer) throws IOException {
        socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
        if (socket.getInputStream().readNBytes(answer).length < answer) {
            throw new IOException("the server ended the connection");
        }
        return socket;
    }
}
