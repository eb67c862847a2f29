// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class AcceptedChannelsTest {
    private final AcceptedChannels channels = new AcceptedChannels(
            SocketOptions.builder().tcpNoDelay(true).socketReuseAddress(true).build());

    @Test
    void shouldHandOutAChannelOnceUnderTheNameThatTheListenerGivesIt() throws IOException {
        try (SocketChannel first = SocketChannel.open();
                SocketChannel second = SocketChannel.open()) {
            channels.configureSocket(first);
            channels.configureSocket(second);
            assertThat(channels.claim(name(second))).containsSame(second);
            assertThat(channels.claim(name(second))).isEmpty();
            assertThat(channels.claim(name(first))).containsSame(first);
        }
    }

    @Test
    void shouldRefuseAChannelWhoseNameIsTaken() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channels.configureSocket(channel);
            assertThatIllegalStateException()
                    .isThrownBy(() -> channels.configureSocket(channel))
                    .withMessageContaining(name(channel));
            assertThat(channels.claim(name(channel))).as("the first one").containsSame(channel);
        }
    }

    @Test
    void shouldForgetClosedChannelsWhoseConnectionNeverCame() throws IOException {
        List<String> abandoned = new ArrayList<>();
        try (SocketChannel waiting = SocketChannel.open()) {
            channels.configureSocket(waiting);
            for (int i = 0; i < 64; i++) {
                SocketChannel channel = SocketChannel.open();
                channels.configureSocket(channel);
                channel.close();
                abandoned.add(name(channel));
            }
            assertThat(abandoned.subList(0, 63))
                    .allSatisfy(name -> assertThat(channels.claim(name)).isEmpty());
            assertThat(channels.claim(name(waiting))).containsSame(waiting);
        }
    }

    @Test
    void shouldSetUpSocketsAsTheOptionsBehindItDo() throws IOException {
        try (SocketChannel channel = SocketChannel.open()) {
            channels.configureSocket(channel);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThat(channels.tcpNoDelay()).isTrue();
            assertThat(channels.socketReuseAddress()).isTrue();
        }
    }

    private static String name(SocketChannel channel) {
        return "0x" + HexFormat.of().toHexDigits(System.identityHashCode(channel));
    }
}
