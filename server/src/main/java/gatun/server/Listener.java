// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.listener.ConnectionListener;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.WireProtocol;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Transport;
import gatun.server.settings.StartException;
import io.helidon.webserver.WebServerConfig;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * One socket on which the server listens. Each is set up as a Helidon listener of its own, so that a failure to listen
 * can be told apart and all of them stop taking connections at the same moment; its connections are accepted by ours.
 */
public final class Listener implements AutoCloseable {
    /** Ports up to this one are for root, unless the system says otherwise. */
    private static final int LAST_PRIVILEGED_PORT = 1023;

    private final ConnectionListener connections;
    private final Endpoint endpoint;

    private Listener(ConnectionListener connections, Endpoint endpoint) {
        this.connections = connections;
        this.endpoint = endpoint;
    }

    /**
     * Binds the address before models are loaded. Ports stay bound until {@code held} is closed, so that two listeners
     * on one port are found. Throws {@link StartException}, which names the flag.
     */
    static void reserve(Endpoint endpoint, ResourceStack held) {
        SocketAddress address = endpoint.address();
        try {
            if (address instanceof UnixDomainSocketAddress unix) {
                if (endpoint.kind().transport() == Transport.GRPC && isSocket(unix.getPath()) && answers(unix)) {
                    return;
                }
                removeStale(endpoint.kind(), unix);
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(unix).close();
                Files.delete(unix.getPath());
                return;
            }
            held.add(ServerSocketChannel.open()).bind(address);
        } catch (UnresolvedAddressException | IOException e) {
            throw cannotListen(endpoint, e);
        }
    }

    /** A listener that does not listen yet. */
    static final class Prepared {
        private final Endpoint endpoint;
        private final OpenConnections open;
        private final WebServerConfig config;

        /** {@code grace} is how long running requests may take to finish once the listener is closed. */
        Prepared(Endpoint endpoint, OpenConnections open, Duration grace, Consumer<WebServerConfig.Builder> speak) {
            this.endpoint = endpoint;
            this.open = open;
            this.config = WebServerConfig.builder()
                    .bindAddress(endpoint.address())
                    .shutdownGracePeriod(grace)
                    .update(speak)
                    .buildPrototype();
        }

        /** The protocol that is spoken first on a connection. */
        private WireProtocol wire() {
            return switch (endpoint.kind().transport()) {
                case HTTP -> endpoint.tls() ? WireProtocol.HTTPS : WireProtocol.HTTP;
                case GRPC -> endpoint.tls() ? WireProtocol.GRPCS : WireProtocol.GRPC;
            };
        }

        Listener start() {
            ConnectionListener connections;
            try {
                if (endpoint.kind().transport() == Transport.GRPC
                        && endpoint.address() instanceof UnixDomainSocketAddress unix) {
                    takeOver(unix.getPath());
                }
                connections = ConnectionListener.start(config, wire(), open);
            } catch (UnresolvedAddressException | IOException e) {
                throw cannotListen(endpoint, e);
            }
            Listener listener = new Listener(connections, endpoint.at(connections.address()));
            try {
                if (endpoint.address() instanceof UnixDomainSocketAddress unix) {
                    restrict(unix.getPath());
                }
                return listener;
            } catch (IOException e) {
                listener.close();
                throw cannotListen(endpoint, e);
            }
        }
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Takes no more connections, lets running requests finish within the grace period, then cuts them off. */
    @Override
    public void close() {
        connections.close();
    }

    /** The user and the group may connect. Until here the umask decides, which by custom lets nobody else write. */
    private static void restrict(Path socket) throws IOException {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw----"));
    }

    /** Removes another server's gRPC socket, as gRPC's core does: new connections come here, old ones stay there. */
    private static void takeOver(Path path) throws IOException {
        if (isSocket(path)) {
            Files.delete(path);
        }
    }

    private static boolean isSocket(Path path) throws IOException {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                        .isOther();
    }

    /** Removes the socket of a server that is gone; leaves a file alone that is in use or no socket. */
    private static void removeStale(Endpoint.Kind kind, UnixDomainSocketAddress address) throws IOException {
        Path path = address.getPath();
        String flag = "--" + kind.key() + "-unix-socket=" + path;
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!isSocket(path)) {
            throw new StartException(flag + " names something that is not a socket; choose another path");
        }
        if (answers(address)) {
            throw new StartException(flag + ": another server listens there; stop it or choose another path");
        }
        Files.delete(path);
    }

    private static boolean answers(UnixDomainSocketAddress address) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(address);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean answers(InetSocketAddress address) {
        try (SocketChannel probe = SocketChannel.open(address)) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether this machine has the address; then only the port can be the reason of a failure. */
    private static boolean isLocal(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return false;
        }
        try {
            return address.getAddress().isAnyLocalAddress()
                    || NetworkInterface.getByInetAddress(address.getAddress()) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    private static StartException cannotListen(Endpoint endpoint, Exception cause) {
        String key = "--" + endpoint.kind().key();
        SocketAddress address = endpoint.address();
        if (address instanceof UnixDomainSocketAddress unix) {
            return new StartException(
                    key + "-unix-socket=" + unix.getPath() + ": cannot listen there (" + cause.getMessage()
                            + "); name a path of less than 108 bytes in a folder that this user may write to",
                    cause);
        }
        InetSocketAddress tcp = (InetSocketAddress) address;
        boolean refused = cause instanceof BindException && isLocal(tcp);
        if (refused && (tcp.getPort() > LAST_PRIVILEGED_PORT || answers(tcp))) {
            return new StartException(
                    key + "-port=" + tcp.getPort() + ": port " + tcp.getPort() + " is in use on " + tcp.getHostString()
                            + "; stop what listens there or choose another port, 0 for any free one",
                    cause);
        }
        if (refused) {
            return new StartException(
                    key + "-port=" + tcp.getPort() + ": this user may not listen on port " + tcp.getPort()
                            + "; choose one above 1023",
                    cause);
        }
        return new StartException(
                key + "-address=" + tcp.getHostString() + ": cannot listen there ("
                        + (tcp.isUnresolved() ? "the name is unknown" : String.valueOf(cause.getMessage()))
                        + "); name an address of this machine, 0.0.0.0 for all",
                cause);
    }
}
