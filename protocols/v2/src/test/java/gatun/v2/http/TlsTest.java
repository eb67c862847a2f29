// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.http.HttpTimeouts;
import gatun.listener.PemFile;
import gatun.listener.ServerTls;
import gatun.listener.TlsFiles;
import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import gatun.testing.Await;
import gatun.testing.Certificates;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** HTTP over TLS, with the JDK's client and with sockets. */
@Timeout(60)
class TlsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int LARGE = 4 << 20;

    @TempDir
    static Path folder;

    private static Certificates certificates;
    private static Certificates.Identity server;
    private static Certificates.Identity client;
    private static Path repository;
    private static ListenerUnderTest edge;

    @BeforeAll
    static void start() throws IOException {
        certificates = new Certificates(folder);
        server = certificates.identity("server", "EC", 256);
        client = certificates.identity("client", "EC", 256);
        repository = Files.createDirectory(folder.resolve("models"));
        ListenerUnderTest.writeModel(repository, "bytes", 0, "TYPE_UINT8 [ -1 ]");
        edge = serve(server, Optional.empty());
    }

    @AfterAll
    static void stop() {
        edge.awaitNothingLent();
        edge.close();
    }

    private static ListenerUnderTest serve(Certificates.Identity identity, Optional<Path> roots) {
        ServerTls tls = ServerTls.load(new TlsFiles(
                new PemFile("--cert", identity.certificate()),
                new PemFile("--key", identity.key()),
                roots.map(path -> new PemFile("--roots", path))));
        return V2TestServer.startOver(
                tls, repository, settings -> settings.withTimeouts(new HttpTimeouts(PATIENCE, 0)));
    }

    private static HttpClient client(Certificates.Identity trusted, Optional<Certificates.Identity> shown) {
        return HttpClient.newBuilder()
                .connectTimeout(ListenerUnderTest.DEADLINE)
                .sslContext(Certificates.client(trusted.certificate(), shown))
                .build();
    }

    private static HttpRequest.Builder request(ListenerUnderTest to, String path) {
        return HttpRequest.newBuilder(URI.create("https://localhost:" + to.port() + path))
                .timeout(ListenerUnderTest.DEADLINE);
    }

    /** Lists the models, which only the server's own pages may. */
    private static int list(String origin) throws IOException, InterruptedException {
        return client(server, Optional.empty())
                .send(
                        request(edge, "/v2/repository/index")
                                .header("Origin", origin + "://localhost:" + edge.port())
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    @Test
    void shouldTakeOnlySecurePagesForItsOwn() throws Exception {
        assertThat(list("https")).isEqualTo(200);
        assertThat(list("HTTPS")).isEqualTo(200);
        assertThat(list("http")).isEqualTo(403);
    }

    /** Asks for the server's name, as one of any clients. */
    private static int ask(HttpClient by, ListenerUnderTest to) throws IOException, InterruptedException {
        return by.send(request(to, "/v2").build(), HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    /** Sends {@code tensor} to the model that answers with its input, and reads it from the response. */
    private static byte[] echo(HttpClient by, byte[] tensor) throws IOException, InterruptedException {
        byte[] header = ("{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"UINT8\",\"shape\":[" + tensor.length
                        + "],\"parameters\":{\"binary_data_size\":" + tensor.length
                        + "}}],\"parameters\":{\"binary_data_output\":true}}")
                .getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(header);
        body.writeBytes(tensor);
        HttpResponse<byte[]> response = by.send(
                request(edge, "/v2/models/bytes/infer")
                        .header("Inference-Header-Content-Length", Integer.toString(header.length))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).isEqualTo(200);
        byte[] all = response.body();
        return Arrays.copyOfRange(all, all.length - tensor.length, all.length);
    }

    private static byte[] random(int byteSize) {
        byte[] bytes = new byte[byteSize];
        new Random(byteSize).nextBytes(bytes);
        return bytes;
    }

    @Test
    void shouldCarryTensorsOfEverySizeBothWaysOnOneConnection() throws Exception {
        try (HttpClient by = client(server, Optional.empty())) {
            for (int byteSize : new int[] {1, 100, 4096, 16_383, 16_384, 70_000, 1 << 20, LARGE}) {
                assertThat(echo(by, random(byteSize))).isEqualTo(random(byteSize));
            }
        }
    }

    @Test
    void shouldAnswerInHelidonsWayToo() throws Exception {
        try (HttpClient by = client(server, Optional.empty())) {
            HttpResponse<String> metadata = by.send(request(edge, "/v2").build(), HttpResponse.BodyHandlers.ofString());
            HttpResponse<String> unknown =
                    by.send(request(edge, "/v2/models/none").build(), HttpResponse.BodyHandlers.ofString());

            assertThat(metadata.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
            assertThat(metadata.body()).contains("\"extensions\"");
            assertThat(unknown.statusCode()).isEqualTo(404);
        }
    }

    @Test
    void shouldTakeABodyAfterTheClientHasAskedWhetherItMay() throws Exception {
        try (HttpClient by = client(server, Optional.empty())) {
            HttpResponse<String> response = by.send(
                    request(edge, "/v2/models/bytes/infer")
                            .expectContinue(true)
                            .POST(
                                    HttpRequest.BodyPublishers.ofString(
                                            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"UINT8\",\"shape\":[3],\"data\":[1,2,3]}]}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());

            assertThat(response.body()).contains("\"data\":[1,2,3]");
        }
    }

    @Test
    void shouldLetInOnlyClientsForWhomTheRootsVouch() throws Exception {
        Certificates.Identity stranger = certificates.identity("stranger", "EC", 256);
        try (ListenerUnderTest mutual = serve(server, Optional.of(client.certificate()));
                HttpClient known = client(server, Optional.of(client));
                HttpClient nobody = client(server, Optional.empty());
                HttpClient other = client(server, Optional.of(stranger))) {
            assertThat(ask(known, mutual)).isEqualTo(200);
            assertThatThrownBy(() -> ask(nobody, mutual)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> ask(other, mutual)).isInstanceOf(IOException.class);
            assertThat(ask(known, mutual)).isEqualTo(200);
        }
    }

    @Test
    void shouldServeACertificateThatReplacedAnother() throws Exception {
        Certificates.Identity old = certificates.identity("old", "EC", 256);
        Certificates.Identity renewed = certificates.identity("renewed", "EC", 256);
        Path before = Files.copy(old.certificate(), folder.resolve("before.crt"));
        try (ListenerUnderTest to = serve(old, Optional.empty())) {
            assertThat(subject(to, before)).isEqualTo("CN=old");
            Files.copy(renewed.certificate(), old.certificate(), StandardCopyOption.REPLACE_EXISTING);
            Files.copy(renewed.key(), old.key(), StandardCopyOption.REPLACE_EXISTING);

            Await.until("the new certificate", () -> subject(to, renewed.certificate())
                    .equals("CN=renewed"));
        }
    }

    /** Whom the server shows itself as; empty when a client that trusts {@code trusted} refuses it. */
    private static String subject(ListenerUnderTest to, Path trusted) throws IOException {
        try (SSLSocket socket = connect(to, trusted)) {
            socket.startHandshake();
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0])
                    .getSubjectX500Principal()
                    .getName();
        } catch (SSLException e) {
            return "";
        }
    }

    private static SSLSocket connect(ListenerUnderTest to, Path trusted) throws IOException {
        SSLSocket socket = (SSLSocket) Certificates.client(trusted, Optional.empty())
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), to.port());
        socket.setSoTimeout((int) ListenerUnderTest.DEADLINE.toMillis());
        return socket;
    }

    @Test
    void shouldEndTlsBeforeTheConnection() throws Exception {
        try (SSLSocket socket = connect(edge, server.certificate())) {
            socket.getOutputStream()
                    .write("GET /v2/health/live HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));

            // The JDK's socket throws when a connection ends without TLS's own end.
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void shouldRefuseAClientThatSpeaksAnotherProtocolOnly() throws Exception {
        try (SSLSocket socket = connect(edge, server.certificate())) {
            var parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            socket.setSSLParameters(parameters);

            assertThatThrownBy(socket::startHandshake).hasMessageContaining("no_application_protocol");
        }
    }

    @Test
    void shouldHangUpOnAClientWithoutTlsAndServeTheOthers() throws Exception {
        try (RawClient plain = new RawClient(edge.port());
                HttpClient by = client(server, Optional.empty())) {
            plain.sendLines("GET /v2 HTTP/1.1\nHost: h\n\n");
            assertThat(readToTheEnd(plain)).as("bytes of an alert of TLS").isLessThanOrEqualTo(7);

            assertThat(ask(by, edge)).isEqualTo(200);
        }
    }

    @Test
    void shouldNotWaitForEverForAClientThatStallsInTheHandshake() {
        try (RawClient stalled = new RawClient(edge.port())) {
            stalled.send(new byte[] {22, 3, 1, 1, 0});

            assertThat(readToTheEnd(stalled)).isZero();
        }
    }

    @Test
    void shouldStopWhileAClientIsWithinItsHandshake() throws Exception {
        ListenerUnderTest to = serve(server, Optional.empty());
        try (RawClient stalled = new RawClient(to.port());
                HttpClient by = client(server, Optional.empty())) {
            stalled.send(new byte[] {22, 3, 1, 1, 0});
            assertThat(ask(by, to)).isEqualTo(200);

            to.close();
            assertThat(readToTheEnd(stalled)).isZero();
        }
    }

    /** How many bytes came before the end; fails when that does not come within the deadline of a read. */
    private static int readToTheEnd(RawClient from) {
        int count = 0;
        try {
            while (from.readByte() >= 0) {
                count++;
            }
        } catch (UncheckedIOException e) {
            assertThat(e.getCause()).hasMessageContaining("reset");
        }
        return count;
    }
}
