// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.warmup.WarmUp.AskedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class WarmUpTest {
    /** Takes connections, and never says anything. */
    private static final class SilentServer implements AskedServer {
        private final ServerSocketChannel socket;

        SilentServer(Path folder) throws IOException {
            socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                    .bind(UnixDomainSocketAddress.of(folder.resolve("silent")));
        }

        @Override
        public SocketAddress http() {
            try {
                return socket.getLocalAddress();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public SocketAddress grpc() {
            return http();
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    @Timeout(60)
    void shouldEndThoughTheServerNeverAnswers() {
        List<SilentServer> opened = new ArrayList<>();
        WarmUp.run(
                Duration.ofSeconds(1),
                Optional.empty(),
                (repository, sockets) -> {
                    SilentServer server = new SilentServer(sockets);
                    opened.add(server);
                    return server;
                },
                StopWait.NEVER);
        assertThat(opened).isNotEmpty().noneMatch(server -> server.socket.isOpen());
    }
}
