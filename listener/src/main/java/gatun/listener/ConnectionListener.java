// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.listener.AcceptedConnection.ChannelSocket;
import gatun.listener.ClientError.ClientErrors.LogPace;
import gatun.listener.OpenConnections.ConnectionLimits.ListenerScope;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.OpenConnections.WireProtocol;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections at one address, in the place of Helidon's listener: within limits, with no buffers for idle
 * connections, and it goes on when the process has no file descriptor left. Each connection has a virtual thread. It is
 * set up by a Helidon {@link ListenerConfig}, from which it takes the address, the backlog, the one connection
 * selector, the socket options, routing, content encodings, the idle timeout and the grace period. Thread-safe.
 */
public final class ConnectionListener implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionListener.class);

    /** How long to wait before accepting is tried again, where the system refuses it. */
    private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

    /** The longest time between two checks for connections that have been idle for too long. */
    private static final Duration LONGEST_CHECK_PERIOD = Duration.ofSeconds(15);

    /** How long the threads of connections that were cut off may take to end. */
    private static final Duration CUT_OFF = Duration.ofSeconds(2);

    private final ListenerConfig config;
    private final WireProtocol protocol;
    private final OpenConnections open;
    private final ListenerScope scope;
    private final ServerConnectionSelector selector;
    private final ServerSocketChannel server;
    private final SocketAddress address;

    /** Identifies the Unix socket among others at its path; null for a port. */
    private final @Nullable Object socketFile;

    private final RefusedConnections refused = new RefusedConnections();
    private final Set<AcceptedConnection> connections = ConcurrentHashMap.newKeySet();
    private final LogPace pace = new LogPace();
    private final Thread acceptor;
    private final Thread idleCheck;
    private volatile boolean closing;

    private ConnectionListener(
            ListenerConfig config, WireProtocol protocol, OpenConnections open, ServerSocketChannel server)
            throws IOException {
        this.config = config;
        this.protocol = protocol;
        this.open = open;
        this.scope = ListenerScope.of(config);
        this.selector = config.connectionSelectors().getFirst();
        this.server = server;
        this.address = server.getLocalAddress();
        this.socketFile = address instanceof UnixDomainSocketAddress unix ? fileKey(unix.getPath()) : null;
        this.acceptor = Thread.ofPlatform().name("accept-" + protocol.label()).unstarted(this::acceptAll);
        this.idleCheck =
                Thread.ofVirtual().name("idle-check-" + protocol.label()).unstarted(this::checkIdle);
    }

    /** Listens as {@code config} says, with an address and one connection selector; {@code open} limits connections. */
    public static ConnectionListener start(ListenerConfig config, WireProtocol protocol, OpenConnections open)
            throws IOException {
        SocketAddress address = config.bindAddress().orElseThrow();
        if (config.connectionSelectors().size() != 1) {
            throw new IllegalArgumentException(
                    "a listener has " + config.connectionSelectors().size() + " selectors: expected 1");
        }
        ServerSocketChannel server = address instanceof UnixDomainSocketAddress
                ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                : ServerSocketChannel.open();
        try {
            config.configureSocket(server);
            server.bind(address, config.backlog());
            ConnectionListener listener = new ConnectionListener(config, protocol, open, server);
            listener.scope.router().beforeStart();
            listener.acceptor.start();
            listener.idleCheck.start();
            return listener;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** The address where it listens, with the real port. */
    public SocketAddress address() {
        return address;
    }

    private void acceptAll() {
        while (!closing) {
            try {
                begin(server.accept());
            } catch (AsynchronousCloseException e) {
                LOG.trace("no more connections are accepted", e);
            } catch (ClosedChannelException e) {
                LOG.trace("the listener is closed", e);
            } catch (IOException | RuntimeException | Error e) {
                // Without a free descriptor each try fails at once: the clients wait in the backlog until there is one.
                logNowAndThen("Connections cannot be accepted, trying again: " + e);
                LockSupport.parkNanos(this, RETRY_PAUSE.toNanos());
            }
        }
    }

    private void begin(SocketChannel channel) throws IOException {
        boolean begun = false;
        try {
            SocketAddress remote = channel.getRemoteAddress();
            Optional<ConnectionRefusal> refusal = open.admit(protocol, remote);
            if (refusal.isPresent()) {
                begun = true;
                refuse(channel, refusal.get());
                return;
            }
            try {
                begun = begin(channel, remote);
            } finally {
                if (!begun) {
                    open.closed(protocol, remote);
                }
            }
        } finally {
            if (!begun) {
                channel.close();
            }
        }
    }

    private boolean begin(SocketChannel channel, SocketAddress remote) {
        config.connectionOptions().configureSocket(channel);
        ChannelSocket socket = new ChannelSocket(channel, ChannelSocket.nameOf(server), remote);
        AcceptedConnection connection =
                new AcceptedConnection(scope, socket, selector, new AcceptedConnection.Watcher() {
                    @Override
                    public void failed(ClientError error, String what) {
                        open.errors().add(protocol, error, what);
                    }

                    @Override
                    public void ended(AcceptedConnection connection) {
                        connections.remove(connection);
                        open.closed(protocol, remote);
                    }
                });
        connections.add(connection);
        if (closing) {
            connections.remove(connection);
            return false;
        }
        Thread.ofVirtual().name(protocol.label() + "-connection").start(connection);
        return true;
    }

    private void refuse(SocketChannel channel, ConnectionRefusal refusal) {
        String reason = open.text(refusal);
        logNowAndThen("A connection was refused: " + reason);
        refused.refuse(channel, protocol.refusal(reason));
    }

    private void logNowAndThen(String line) {
        pace.take().ifPresent(untold -> LOG.warn("{}", line));
    }

    private void checkIdle() {
        Duration period = config.idleConnectionPeriod().compareTo(LONGEST_CHECK_PERIOD) < 0
                ? config.idleConnectionPeriod()
                : LONGEST_CHECK_PERIOD;
        while (!closing) {
            LockSupport.parkNanos(this, period.toNanos());
            for (AcceptedConnection connection : connections) {
                if (connection.idleTime().compareTo(config.idleConnectionTimeout()) > 0) {
                    connection.giveUp();
                }
            }
        }
    }

    /** Accepts no more connections, and cuts the others off after the grace period. Waits for that. */
    @Override
    public void close() {
        if (closing) {
            return;
        }
        closing = true;
        closeServer();
        LockSupport.unpark(idleCheck);
        connections.forEach(AcceptedConnection::stop);
        if (!awaitNone(config.shutdownGracePeriod())) {
            connections.forEach(AcceptedConnection::abort);
            awaitNone(CUT_OFF);
        }
        scope.executor().shutdownNow();
        scope.router().afterStop();
    }

    private void closeServer() {
        try {
            server.close();
            acceptor.join();
            // Another server may have taken the path over.
            if (address instanceof UnixDomainSocketAddress unix
                    && socketFile != null
                    && socketFile.equals(fileKey(unix.getPath()))) {
                Files.deleteIfExists(unix.getPath());
            }
        } catch (IOException e) {
            LOG.warn("{} cannot be closed: {}", address, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Identifies the file at {@code path} among others that were or will be there; null where there is none. */
    private static @Nullable Object fileKey(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Waits until no connection is left; false after {@code limit}, or when the thread is interrupted. */
    private boolean awaitNone(Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        while (!connections.isEmpty()
                && System.nanoTime() < end
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(1));
        }
        return connections.isEmpty();
    }

    /**
     * Tells clients why they are refused. Closing a socket while its client sends may lose the response: the server
     * reads on for a moment from some refused clients at a time, and closes the others at once. Thread-safe.
     */
    static final class RefusedConnections {
        /** Refused clients that are read from at the same time. */
        private static final int AT_A_TIME = 64;

        private static final Duration LINGER = Duration.ofMillis(500);
        private static final Duration PAUSE = Duration.ofMillis(5);
        private static final int SCRATCH_BYTES = 4 * 1024;

        private final Semaphore lingering = new Semaphore(AT_A_TIME);

        /** Sends {@code response}, which fits a socket's buffer, and closes the channel soon; does not block. */
        void refuse(SocketChannel channel, byte[] response) {
            try {
                channel.configureBlocking(false);
                if (response.length > 0) {
                    channel.write(ByteBuffer.wrap(response));
                    channel.shutdownOutput();
                    if (lingering.tryAcquire()) {
                        Thread.ofVirtual().name("refused-connection").start(() -> linger(channel));
                        return;
                    }
                }
            } catch (IOException e) {
                LOG.trace("a client does not hear why it is refused", e);
            }
            close(channel);
        }

        private void linger(SocketChannel channel) {
            try {
                ByteBuffer scratch = ByteBuffer.allocate(SCRATCH_BYTES);
                long end = System.nanoTime() + LINGER.toNanos();
                int count = 0;
                while (count >= 0 && System.nanoTime() < end) {
                    count = channel.read(scratch.clear());
                    if (count == 0) {
                        LockSupport.parkNanos(this, PAUSE.toNanos());
                    }
                }
            } catch (IOException e) {
                LOG.trace("a refused client left", e);
            } finally {
                close(channel);
                lingering.release();
            }
        }

        private static void close(SocketChannel channel) {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.trace("the connection was already closed", e);
            }
        }
    }
}
