// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.PemFile;
import gatun.listener.ServerTls;
import gatun.listener.TlsFiles;
import gatun.listener.TlsTransport;
import gatun.testing.Await;
import gatun.testing.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Looks at clients that speak TLS. */
@Timeout(60)
class SecuredPresenceTest {
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(64);
    private final AtomicInteger gone = new AtomicInteger();

    @TempDir
    Path folder;

    private SocketChannel served;
    private SSLSocket client;
    private ClientPresence presence;

    @BeforeEach
    void connect() throws Exception {
        Certificates.Identity identity = new Certificates(folder).identity("server", "EC", 256);
        ServerTls tls = ServerTls.load(new TlsFiles(
                new PemFile("--cert", identity.certificate()), new PemFile("--key", identity.key()), Optional.empty()));
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            client = (SSLSocket) Certificates.client(identity.certificate(), Optional.empty())
                    .getSocketFactory()
                    .createSocket(
                            InetAddress.getLoopbackAddress(), listener.socket().getLocalPort());
            served = listener.accept();
        }
        TlsTransport transport = tls.transport(served, new byte[0], "http/1.1");
        CompletableFuture<Void> shaken = CompletableFuture.runAsync(() -> {
            try {
                client.startHandshake();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        transport.open();
        shaken.get(20, TimeUnit.SECONDS);
        presence = new ClientPresence(transport);
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        served.close();
    }

    @Test
    void shouldNoticeAClientThatEndsTlsAndCloses() throws IOException {
        presence.startWaiting(gone::incrementAndGet, false);
        assertThat(presence.look(scratch)).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        assertThat(presence.look(scratch)).isEqualTo(ClientPresence.Look.LOOKED);
        assertThat(gone).hasValue(0);

        client.close();

        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (gone.get() == 0) {
            assertThat(System.nanoTime()).as("looking").isLessThan(deadline);
            presence.look(scratch);
        }
        assertThat(presence.isGone()).isTrue();
        assertThat(served.isBlocking()).isTrue();
    }

    @Test
    void shouldKeepWhatTheClientSendsOfANextRequest() throws IOException {
        presence.startWaiting(gone::incrementAndGet, false);
        assertThat(presence.look(scratch)).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        client.getOutputStream().write(new byte[] {1, 2, 3});
        Await.until("looking", () -> presence.look(scratch) != ClientPresence.Look.LOOKED);
        presence.stopWaiting();

        assertThat(presence.takeKept()).containsExactly(1, 2, 3);
        assertThat(gone).hasValue(0);
    }
}
