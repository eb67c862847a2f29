// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.Principal;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A channel for Helidon, without idle buffers. For the connection's thread; {@link #close} for any. */
final class ChannelSocket implements HelidonSocket {
    private static final int READ_AT_ONCE = 4 * 1024;
    private static final int WRITTEN_AT_ONCE = 16 * 1024;

    private final SocketChannel channel;
    private final String socketId;
    private final Peer remote;

    /** The socket of {@code channel}, which is connected to {@code remote}, at the listener {@code socketId}. */
    ChannelSocket(SocketChannel channel, String socketId, SocketAddress remote) {
        this.channel = channel;
        this.socketId = socketId;
        this.remote = new Peer(remote);
    }

    /** As Helidon names a channel. */
    static String nameOf(Object channel) {
        return "0x" + HexFormat.of().toHexDigits(System.identityHashCode(channel));
    }

    /** The next bytes from the client, at least one; waits for them. Null at the end of the stream. */
    @Override
    public byte @Nullable [] get() {
        ByteBuffer bytes = ByteBuffer.allocate(READ_AT_ONCE);
        try {
            int count = channel.read(bytes);
            return count < 0 ? null : Arrays.copyOf(bytes.array(), count);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void write(BufferData buffer) {
        ByteBuffer piece = ByteBuffer.allocate(Math.min(buffer.available(), WRITTEN_AT_ONCE));
        try {
            while (!buffer.consumed()) {
                piece.clear();
                buffer.writeTo(piece, Math.min(buffer.available(), piece.remaining()));
                piece.flip();
                while (piece.hasRemaining()) {
                    channel.write(piece);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    @SuppressWarnings("removal")
    public int read(BufferData buffer) {
        throw new UnsupportedOperationException("Helidon does not use it");
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void idle() {
        // Only Helidon's clients leave connections idle.
    }

    @Override
    public boolean isConnected() {
        return channel.isOpen();
    }

    @Override
    public PeerInfo remotePeer() {
        return remote;
    }

    @Override
    public PeerInfo localPeer() {
        try {
            return new Peer(channel.getLocalAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isSecure() {
        return false;
    }

    @Override
    public String socketId() {
        return socketId;
    }

    @Override
    public String childSocketId() {
        return nameOf(channel);
    }

    private record Peer(SocketAddress address) implements PeerInfo {
        @Override
        public String host() {
            return switch (address) {
                case InetSocketAddress tcp -> tcp.getHostString();
                case UnixDomainSocketAddress unix -> unix.getPath().toString();
                default -> address.toString();
            };
        }

        @Override
        public int port() {
            return address instanceof InetSocketAddress tcp ? tcp.getPort() : -1;
        }

        @Override
        public Optional<Principal> tlsPrincipal() {
            return Optional.empty();
        }

        @Override
        public Optional<Certificate[]> tlsCertificates() {
            return Optional.empty();
        }
    }
}
