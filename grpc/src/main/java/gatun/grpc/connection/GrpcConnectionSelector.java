// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.calls.CallAdmission;
import gatun.grpc.calls.CallServices;
import gatun.grpc.calls.CallServices.CallLocation;
import gatun.grpc.calls.CallServices.DeadlineTimer;
import gatun.grpc.calls.CallServices.HostCheck;
import gatun.grpc.calls.CallServices.ServiceTable;
import gatun.grpc.calls.Decompression;
import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.Http2;
import gatun.listener.AcceptedChannels;
import gatun.listener.ChannelTransport;
import gatun.listener.ConnectionUse;
import gatun.listener.IoBuffers;
import gatun.listener.ServerTls;
import gatun.listener.Transport;
import gatun.listener.Transport.EarlyBytes;
import gatun.listener.Transport.TransferredBytes;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InternalServer;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves gRPC on the connections of a Helidon listener. Give the listener this selector, and {@link #socketOptions}
 * made from the options it would have otherwise: they are how a connection gets hold of its socket channel, which it
 * reads into native memory. A connection without its channel, under a listener's own TLS or with other socket options,
 * works too, with one more copy. Safe for any thread; may serve several listeners.
 */
public final class GrpcConnectionSelector implements ServerConnectionSelector, AutoCloseable {
    /** Who is at the other end of a call's connection. */
    public static final Attributes.Key<ClientQuotaKey> SENDER = Attributes.Key.create("gatun-sender");

    /** How often messages are looked at that do not go on. */
    private static final Duration STALL_CHECK_PERIOD = Duration.ofSeconds(15);

    private final ConnectionSettings settings;
    private final BufferPool pool;
    private final CallAdmission admission;
    private final IoBuffers buffers = new IoBuffers();
    private final ConnectionBuffers connectionBuffers = new ConnectionBuffers(buffers);
    private final Set<GrpcConnection> open = ConcurrentHashMap.newKeySet();
    private final AcceptedChannels channels;
    private final DeadlineTimer timer = new DeadlineTimer();
    private final ThreadFactory threads = Thread.ofVirtual().name("grpc-call").factory();
    private final Decompression decompression;
    private final Context root;
    private final AccessLog accessLog;
    private final RunPlacement placement;
    private final HostNames hosts;
    private final WorkBudgets budgets;

    /** Serves {@code services}; {@code hosts} are the names of this server, for clients on this machine. */
    public GrpcConnectionSelector(
            ConnectionSettings settings,
            BufferPool pool,
            List<ServerServiceDefinition> services,
            SocketOptions socketOptions,
            HostNames hosts,
            WorkBudgets budgets,
            AccessLog accessLog,
            RunPlacement placement) {
        ServiceTable table = new ServiceTable(services);
        this.settings = settings;
        this.hosts = hosts;
        this.budgets = budgets;
        this.accessLog = accessLog;
        this.placement = placement;
        this.pool = pool;
        this.admission = new CallAdmission(table);
        this.channels = new AcceptedChannels(socketOptions);
        this.decompression = new Decompression(pool, settings.maxMessageSize());
        timer.repeat(STALL_CHECK_PERIOD, pool::endStalled);
        pool.onShortage(() -> open.forEach(GrpcConnection::endSlowReaders));
        this.root = Context.ROOT.withValue(InternalServer.SERVER_CONTEXT_KEY, new ServedServices(table.services()));
    }

    /** The options that the listener is to use for its connections' sockets. */
    public SocketOptions socketOptions() {
        return channels;
    }

    @Override
    public int bytesToIdentifyConnection() {
        return 0;
    }

    @Override
    public Support supports(BufferData data) {
        byte[] preface = Http2.preface();
        int available = Math.min(data.available(), preface.length);
        for (int i = 0; i < available; i++) {
            if (data.get(i) != preface[i]) {
                return Support.UNSUPPORTED;
            }
        }
        return available == preface.length ? Support.SUPPORTED : Support.UNKNOWN;
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
        return Set.of("h2");
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
        return connection(context, transport(context));
    }

    /** The same services over TLS, for listeners of nothing else, which need {@link #socketOptions}. */
    public ServerConnectionSelector over(ServerTls tls) {
        return new Secured(tls);
    }

    private ServerConnection connection(ConnectionContext context, Transport transport) {
        SocketAddress remote = context.remotePeer().address();
        SocketAddress local = context.localPeer().address();
        Attributes attributes = Attributes.newBuilder()
                .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, remote)
                .set(Grpc.TRANSPORT_ATTR_LOCAL_ADDR, local)
                .set(SENDER, ClientQuotaKey.at(remote))
                .build();
        PeerLocation location = PeerLocation.of(remote, local);
        CallServices services = new CallServices(
                CallLocation.in(root, location),
                attributes,
                new HostCheck(hosts, remote, location),
                timer,
                placement,
                threads,
                decompression,
                accessLog);
        return new GrpcConnection(
                settings, pool, admission, services, connectionBuffers, transport, budgets.of(remote), open);
    }

    /** What the connections that are open are used for now. For any thread. */
    public Stream<ConnectionUse> uses() {
        return open.stream().map(GrpcConnection::use);
    }

    /** Asks clients of open connections, told {@code why}, to call on others next; what they open here is served. */
    public void askToLeave(String why) {
        open.forEach(connection -> connection.askToLeave(why));
    }

    private Transport transport(ConnectionContext context) {
        Optional<SocketChannel> channel = channels.claim(context.childSocketId());
        if (context.isSecure() || channel.isEmpty()) {
            return new HelidonTransport(context.dataReader(), context.dataWriter(), context.serverSocket());
        }
        return new ChannelTransport(channel.get(), EarlyBytes.take(context.dataReader()));
    }

    private final class Secured implements ServerConnectionSelector {
        private static final String PROTOCOL = "h2";

        private final ServerTls tls;

        Secured(ServerTls tls) {
            this.tls = tls;
        }

        @Override
        public int bytesToIdentifyConnection() {
            return 0;
        }

        @Override
        public Support supports(BufferData data) {
            return Support.SUPPORTED;
        }

        @Override
        public Set<String> supportedApplicationProtocols() {
            return Set.of(PROTOCOL);
        }

        @Override
        public ServerConnection connection(ConnectionContext context) {
            SocketChannel channel = channels.claim(context.childSocketId())
                    .orElseThrow(() -> new IllegalStateException("the listener does not show its channels"));
            Transport transport = tls.transport(channel, EarlyBytes.take(context.dataReader()), PROTOCOL);
            return GrpcConnectionSelector.this.connection(context, transport);
        }
    }

    /** Stops watching deadlines; for when no connection is open any more. */
    @Override
    public void close() {
        timer.close();
    }

    /** The services for the reflection service, which asks a server; it is not started or stopped here. */
    static final class ServedServices extends Server {
        private final List<ServerServiceDefinition> services;

        ServedServices(List<ServerServiceDefinition> services) {
            this.services = services;
        }

        @Override
        public List<ServerServiceDefinition> getServices() {
            return services;
        }

        @Override
        public List<ServerServiceDefinition> getImmutableServices() {
            return services;
        }

        @Override
        public List<ServerServiceDefinition> getMutableServices() {
            return List.of();
        }

        @Override
        public Server start() {
            return this;
        }

        @Override
        public Server shutdown() {
            return this;
        }

        @Override
        public Server shutdownNow() {
            return this;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return isTerminated();
        }

        @Override
        public void awaitTermination() {
            // The listener outlives every call that could ask.
        }
    }

    /** The listener's reader and writer, for connections without a channel of ours. Costs one more copy. */
    static final class HelidonTransport implements Transport {
        private static final Logger LOG = LoggerFactory.getLogger(HelidonTransport.class);

        /** The most bytes that are copied at a time. */
        private static final int CHUNK = 16 * 1024;

        private final DataReader reader;
        private final DataWriter writer;
        private final HelidonSocket socket;
        private final TransferredBytes transferred = new TransferredBytes();

        HelidonTransport(DataReader reader, DataWriter writer, HelidonSocket socket) {
            this.reader = reader;
            this.writer = writer;
            this.socket = socket;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            try {
                if (reader.available() == 0) {
                    reader.ensureAvailable();
                }
                byte[] bytes = reader.readBytes(Math.min(reader.available(), target.remaining()));
                target.put(bytes);
                transferred.came(bytes.length);
                return bytes.length;
            } catch (DataReader.InsufficientDataAvailableException e) {
                return -1;
            } catch (UncheckedIOException e) {
                throw e.getCause();
            } catch (RuntimeException e) {
                throw new IOException("the connection failed", e);
            }
        }

        @Override
        public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
            try {
                for (int i = first; i < end; i++) {
                    while (sources[i].hasRemaining()) {
                        byte[] bytes = new byte[Math.min(CHUNK, sources[i].remaining())];
                        sources[i].get(bytes);
                        writer.writeNow(BufferData.create(bytes));
                        transferred.sent(bytes.length);
                    }
                }
            } catch (UncheckedIOException e) {
                throw e.getCause();
            } catch (RuntimeException e) {
                throw new IOException("the connection failed", e);
            }
        }

        /** Without the bytes of TLS, of which the listener tells nothing. */
        @Override
        public TransferredBytes transferred() {
            return transferred;
        }

        @Override
        public void shutdownOutput() {
            // A TLS socket has no half-close that every client understands: the end of the connection is the signal.
            close();
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (RuntimeException e) {
                LOG.trace("the connection was already closed", e);
            }
        }
    }
}
