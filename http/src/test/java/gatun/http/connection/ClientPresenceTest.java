// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.ChannelTransport;
import gatun.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClientPresenceTest {
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(64);
    private final AtomicInteger gone = new AtomicInteger();
    private SocketChannel client;
    private SocketChannel served;
    private ClientPresence presence;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            client = SocketChannel.open(listener.getLocalAddress());
            served = listener.accept();
        }
        presence = new ClientPresence(new ChannelTransport(served, new byte[0]));
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        served.close();
    }

    private ClientPresence.Look look() {
        return presence.look(scratch);
    }

    /** Looks until that has a result; a client's action takes a moment to arrive. */
    private void lookUntilGone() {
        Await.until("the client's end to be seen", () -> {
            if (gone.get() == 0) {
                assertThat(look()).isNotEqualTo(ClientPresence.Look.NOTHING_WAITS);
            }
            return gone.get() != 0;
        });
    }

    @Test
    void shouldLookOnlyAtRequestsThatWaitForTheSecondRound() {
        assertThat(look()).isEqualTo(ClientPresence.Look.NOTHING_WAITS);
        presence.startWaiting(gone::incrementAndGet, false);
        assertThat(look()).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        assertThat(look()).isEqualTo(ClientPresence.Look.LOOKED);
        assertThat(look()).isEqualTo(ClientPresence.Look.LOOKED);
        presence.stopWaiting();
        assertThat(look()).isEqualTo(ClientPresence.Look.NOTHING_WAITS);
        presence.startWaiting(gone::incrementAndGet, false);
        assertThat(look()).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        assertThat(gone).hasValue(0);
        assertThat(presence.isGone()).isFalse();
        assertThat(served.isBlocking()).isTrue();
    }

    @Test
    void shouldNoticeAClientThatCloses() throws IOException {
        presence.startWaiting(gone::incrementAndGet, false);
        client.close();
        lookUntilGone();
        assertThat(look()).isEqualTo(ClientPresence.Look.NOTHING_WAITS);
        assertThat(gone).hasValue(1);
        assertThat(presence.isGone()).isTrue();
    }

    @Test
    void shouldNoticeAClientThatResets() throws IOException {
        presence.startWaiting(gone::incrementAndGet, false);
        client.setOption(StandardSocketOptions.SO_LINGER, 0);
        client.close();
        lookUntilGone();
        assertThat(gone).hasValue(1);
    }

    @Test
    void shouldKeepWhatTheClientSendsOfANextRequest() throws IOException {
        presence.startWaiting(gone::incrementAndGet, false);
        client.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        assertThat(look()).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        Await.until("looking", () -> look() != ClientPresence.Look.LOOKED);
        client.close();
        assertThat(look()).as("more was sent").isEqualTo(ClientPresence.Look.NOT_LOOKED);
        presence.stopWaiting();
        assertThat(presence.takeKept()).containsExactly(1, 2, 3);
        assertThat(presence.takeKept()).isNull();
        assertThat(gone).hasValue(0);
    }

    @Test
    void shouldNotReadPastARequestThatWasSentAlready() throws IOException {
        presence.startWaiting(gone::incrementAndGet, true);
        client.close();
        assertThat(look()).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        assertThat(look()).isEqualTo(ClientPresence.Look.NOT_LOOKED);
        assertThat(gone).hasValue(0);
    }
}
