// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import gatun.grpc.frames.Http2;
import gatun.listener.PemFile;
import gatun.listener.ServerTls;
import gatun.listener.TlsFiles;
import gatun.testing.Await;
import gatun.testing.Certificates;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The connection over TLS, with grpc-java's client and with the JDK's sockets. */
@Timeout(60)
class TlsTest {
    @TempDir
    static Path folder;

    private static Certificates certificates;
    private static Certificates.Identity server;
    private static Certificates.Identity client;

    @RegisterExtension
    final TestResources resources = new TestResources();

    @BeforeAll
    static void makeCertificates() {
        certificates = new Certificates(folder);
        server = certificates.identity("server", "EC", 256);
        client = certificates.identity("client");
    }

    private static ServerTls tls(Certificates.Identity identity, Optional<Path> roots) {
        return ServerTls.load(new TlsFiles(
                new PemFile("--cert", identity.certificate()),
                new PemFile("--key", identity.key()),
                roots.map(path -> new PemFile("--roots", path))));
    }

    private TestServer serve(Optional<Path> roots) {
        return resources.add(TestServer.overTls(tls(server, roots), EchoService.definition()));
    }

    private ManagedChannel channel(TestServer to, TlsChannelCredentials.Builder credentials) {
        ManagedChannel channel = Grpc.newChannelBuilderForAddress("localhost", to.port(), credentials.build())
                .maxInboundMessageSize(64 << 20)
                .build();
        resources.add(channel::shutdownNow);
        return channel;
    }

    private static TlsChannelCredentials.Builder trusting(Path certificate) throws IOException {
        return TlsChannelCredentials.newBuilder().trustManager(certificate.toFile());
    }

    @Test
    void shouldServeMessagesOfEverySize() throws IOException {
        TestServer to = serve(Optional.empty());
        ManagedChannel channel = channel(to, trusting(server.certificate()));

        for (int size : new int[] {0, 1, 100, 16_383, 16_384, 70_000, 1 << 20, 5 << 20}) {
            byte[] message = EchoService.random(size);
            assertThat(EchoService.echo(channel, message)).isEqualTo(message);
        }
        to.awaitNothingLent();
    }

    @Test
    void shouldServeManyCallsAtOnceOnOneConnection() throws Exception {
        ManagedChannel channel = channel(serve(Optional.empty()), trusting(server.certificate()));

        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var answers = IntStream.range(0, 50)
                    .mapToObj(i -> threads.submit(() -> EchoService.echo(channel, EchoService.random(1000 * i))))
                    .toList();
            for (int i = 0; i < answers.size(); i++) {
                assertThat(answers.get(i).get(30, TimeUnit.SECONDS)).isEqualTo(EchoService.random(1000 * i));
            }
        }
    }

    @Test
    void shouldLetInOnlyClientsWithACertificateThatTheRootsVouchFor() throws IOException {
        TestServer to = serve(Optional.of(client.certificate()));

        ManagedChannel known = channel(
                to,
                trusting(server.certificate())
                        .keyManager(client.certificate().toFile(), client.key().toFile()));
        assertThat(EchoService.echo(known, new byte[10])).hasSize(10);
        assertRefused(channel(to, trusting(server.certificate())));
        Certificates.Identity stranger = certificates.identity("stranger");
        assertRefused(channel(
                to,
                trusting(server.certificate())
                        .keyManager(
                                stranger.certificate().toFile(), stranger.key().toFile())));
        assertThat(EchoService.echo(known, new byte[10])).hasSize(10);
    }

    private static void assertRefused(ManagedChannel channel) {
        StatusRuntimeException failure =
                catchThrowableOfType(StatusRuntimeException.class, () -> EchoService.echo(channel, new byte[1]));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void shouldTellHandlersWhoTheClientIs() throws Exception {
        CompletableFuture<SSLSession> session = new CompletableFuture<>();
        ServerInterceptor asking = new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                session.complete(call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION));
                return next.startCall(call, headers);
            }
        };
        TestServer to = resources.add(TestServer.overTls(
                tls(server, Optional.of(client.certificate())),
                ServerInterceptors.intercept(EchoService.definition(), asking)));
        ManagedChannel channel = channel(
                to,
                trusting(server.certificate())
                        .keyManager(client.certificate().toFile(), client.key().toFile()));

        assertThat(EchoService.echo(channel, new byte[1])).hasSize(1);
        assertThat(session.get(20, TimeUnit.SECONDS).getPeerPrincipal().getName())
                .isEqualTo("CN=client");
    }

    @Test
    void shouldServeACertificateThatReplacedAnother() throws Exception {
        Certificates.Identity old = certificates.identity("old");
        Certificates.Identity renewed = certificates.identity("renewed", "EC", 256);
        TestServer to = resources.add(TestServer.overTls(tls(old, Optional.empty()), EchoService.definition()));
        assertThat(EchoService.echo(channel(to, trusting(old.certificate())), new byte[1]))
                .hasSize(1);

        // One after the other, as operators copy: in between the two do not match, and the old ones stay in use.
        Files.copy(renewed.certificate(), old.certificate(), StandardCopyOption.REPLACE_EXISTING);
        Files.copy(renewed.key(), old.key(), StandardCopyOption.REPLACE_EXISTING);

        Await.until("the new certificate", () -> isServedBy(to, "CN=renewed"));
        assertThat(EchoService.echo(channel(to, trusting(renewed.certificate())), new byte[1]))
                .hasSize(1);
    }

    private static boolean isServedBy(TestServer to, String subject) throws Exception {
        try (SSLSocket socket = connect(to)) {
            socket.startHandshake();
            return subject.equals(socket.getSession().getPeerPrincipal().getName());
        } catch (SSLPeerUnverifiedException e) {
            return false;
        }
    }

    @Test
    void shouldRefuseAClientThatSpeaksAnotherProtocolOverTls() throws Exception {
        try (SSLSocket socket = connect(serve(Optional.empty()), "http/1.1")) {
            SSLException refused = catchThrowableOfType(SSLException.class, socket::startHandshake);

            assertThat(refused).hasMessageContaining("no_application_protocol");
        }
    }

    @Test
    void shouldChooseHttp2AmongTheProtocolsOfAClient() throws Exception {
        try (SSLSocket socket = connect(serve(Optional.empty()), "http/1.1", "h2")) {
            socket.startHandshake();

            assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
        }
    }

    @Test
    void shouldHangUpOnAClientWithoutTlsAndServeTheOthers() throws Exception {
        TestServer to = serve(Optional.empty());
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(Http2.preface());
            assertThat(endsWithoutHttp2(socket)).isTrue();
        }

        assertThat(EchoService.echo(channel(to, trusting(server.certificate())), new byte[9]))
                .hasSize(9);
    }

    /** Whether nothing but at most an alert of TLS comes. */
    private static boolean endsWithoutHttp2(Socket socket) throws IOException {
        try (InputStream in = socket.getInputStream()) {
            return in.readAllBytes().length <= 7;
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the server did not hang up", e);
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void shouldRefuseASecondHandshakeOfTls12() throws Exception {
        TestServer to = serve(Optional.empty());
        try (SSLSocket socket = connect(to, "h2")) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            socket.startHandshake();
            OutputStream out = socket.getOutputStream();
            out.write(Http2.preface());
            out.write(new byte[] {0, 0, 0, Http2.SETTINGS, 0, 0, 0, 0, 0});
            out.flush();
            assertThat(socket.getInputStream().read()).isNotNegative();
            socket.startHandshake();

            IOException ended = catchThrowableOfType(IOException.class, () -> {
                while (socket.getInputStream().read() >= 0) {
                    out.write(0);
                }
                throw new IOException("end of stream");
            });
            assertThat(ended).isNotNull();
        }
    }

    @Test
    void shouldFollowAKeyUpdateOfTls13() throws Exception {
        TestServer to = serve(Optional.empty());
        try (SSLSocket socket = connect(to, "h2")) {
            socket.setEnabledProtocols(new String[] {"TLSv1.3"});
            socket.startHandshake();
            OutputStream out = socket.getOutputStream();
            out.write(Http2.preface());
            out.write(new byte[] {0, 0, 0, Http2.SETTINGS, 0, 0, 0, 0, 0});
            // In version 1.3 that updates the keys, and asks the server to do so too.
            socket.startHandshake();
            out.write(new byte[] {0, 0, 8, Http2.PING, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
            out.flush();

            byte[] answer = new byte[17];
            for (int type = -1; type != Http2.PING; ) {
                byte[] header = socket.getInputStream().readNBytes(9);
                type = header[3];
                byte[] payload = socket.getInputStream().readNBytes(((header[1] & 0xff) << 8) | (header[2] & 0xff));
                System.arraycopy(payload, 0, answer, 9, Math.min(8, payload.length));
            }
            assertThat(answer).endsWith(1, 2, 3, 4, 5, 6, 7, 8);
        }
    }

    @Test
    void shouldStopWhileAClientIsWithinItsHandshake() throws Exception {
        TestServer to = serve(Optional.empty());
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.port())) {
            socket.getOutputStream().write(new byte[] {22, 3, 1, 1, 0});
            assertThat(EchoService.echo(channel(to, trusting(server.certificate())), new byte[9]))
                    .hasSize(9);

            assertTimeoutPreemptively(Duration.ofSeconds(20), to::stop);
        }
    }

    private static SSLSocket connect(TestServer to, String... protocols) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Trusting()}, null);
        SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), to.port());
        socket.setSoTimeout(20_000);
        var parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        return socket;
    }

    /** Trusts everybody: what the server shows is the tests' own. */
    private static final class Trusting implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new AssertionError("clients do not ask");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            assertThat(chain).isNotEmpty();
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
