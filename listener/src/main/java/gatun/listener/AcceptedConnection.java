// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.OpenConnections.ConnectionLimits.ListenerScope;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.FixedLimit;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.socket.SocketWriter;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.Principal;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client's connection. {@link #run} runs on its own thread; all other methods are thread-safe. */
final class AcceptedConnection implements ConnectionContext, Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptedConnection.class);

    /** Counts requests for Helidon, and limits them to none. */
    private static final Limit NO_LIMIT = FixedLimit.create();

    /** Told of a connection's end, on its thread. */
    interface Watcher {
        /** The client is the reason that the connection ends. */
        void failed(ClientError error, String what);

        /** The connection's channel is closed. */
        void ended(AcceptedConnection connection);
    }

    private final ListenerScope scope;
    private final ChannelSocket socket;
    private final ServerConnectionSelector selector;
    private final Watcher watcher;
    private final DataReader reader;
    private final SocketWriter writer;

    private volatile boolean stopped;
    private volatile boolean givenUp;
    private volatile @Nullable ServerConnection connection;

    /** {@code watcher} is told how the connection ends. */
    AcceptedConnection(ListenerScope scope, ChannelSocket socket, ServerConnectionSelector selector, Watcher watcher) {
        this.scope = scope;
        this.socket = socket;
        this.selector = selector;
        this.watcher = watcher;
        this.reader = DataReader.create(this::read);
        this.writer = SocketWriter.create(socket);
    }

    private byte @Nullable [] read() {
        try {
            return socket.get();
        } catch (UncheckedIOException e) {
            throw new ServerConnectionException("the client cannot be read from", e);
        }
    }

    @Override
    public void run() {
        try {
            ServerConnection spoken = selector.connection(this);
            connection = spoken;
            // A stop that came before the connection was there could not reach it.
            if (!stopped) {
                spoken.handle(NO_LIMIT);
            }
        } catch (ClientErrorException e) {
            tell(e.error(), e);
        } catch (ServerConnectionException | UncheckedIOException e) {
            tell(ClientError.DISCONNECTED, e);
        } catch (CloseConnectionException e) {
            LOG.trace("a connection ends", e);
        } catch (InterruptedException e) {
            LOG.trace("a connection is cut off", e);
        } catch (RuntimeException e) {
            LOG.warn("a connection failed: {}", e.toString());
            LOG.debug("a connection failed", e);
        } finally {
            abandon();
            watcher.ended(this);
        }
    }

    /** Reports why the connection failed: because of its client, unless the server ended it. */
    private void tell(ClientError error, RuntimeException why) {
        LOG.trace("a connection ends", why);
        if (givenUp) {
            watcher.failed(ClientError.TIMEOUT, "its client was waited for too long");
        } else if (!stopped) {
            watcher.failed(error, String.valueOf(why.getMessage()));
        }
    }

    Duration idleTime() {
        ServerConnection spoken = connection;
        return spoken == null ? Duration.ZERO : spoken.idleTime();
    }

    /** Ends a connection whose client has been waited for too long. */
    void giveUp() {
        givenUp = true;
        stop();
    }

    /** Ends the connection once its client has the responses to its requests. */
    void stop() {
        stopped = true;
        ServerConnection spoken = connection;
        if (spoken != null) {
            try {
                spoken.close(false);
            } catch (RuntimeException e) {
                LOG.warn("a connection cannot be stopped", e);
            }
        }
    }

    void abort() {
        stopped = true;
        ServerConnection spoken = connection;
        if (spoken != null) {
            spoken.close(true);
        }
        abandon();
    }

    private void abandon() {
        try {
            socket.close();
        } catch (UncheckedIOException e) {
            LOG.trace("the connection was already closed", e);
        }
    }

    @Override
    public ListenerContext listenerContext() {
        return scope;
    }

    @Override
    public ExecutorService executor() {
        return scope.executor();
    }

    @Override
    public DataWriter dataWriter() {
        return writer;
    }

    @Override
    public DataReader dataReader() {
        return reader;
    }

    @Override
    public Router router() {
        return scope.router();
    }

    @Override
    public HelidonSocket serverSocket() {
        return socket;
    }

    @Override
    public PeerInfo remotePeer() {
        return socket.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
        return socket.localPeer();
    }

    @Override
    public boolean isSecure() {
        return socket.isSecure();
    }

    @Override
    public String socketId() {
        return socket.socketId();
    }

    @Override
    public String childSocketId() {
        return socket.childSocketId();
    }

    /** A channel for Helidon, without idle buffers. For the connection's thread; {@link #close} for any. */
    static final class ChannelSocket implements HelidonSocket {
        private static final int READ_AT_ONCE = 4 * 1024;
        private static final int WRITTEN_AT_ONCE = 16 * 1024;

        private final SocketChannel channel;
        private final String socketId;
        private final Peer remote;

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
}
