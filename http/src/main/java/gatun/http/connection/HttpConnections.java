// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ClientPresence.ClientWait;
import gatun.http.connection.StopNotice.RequestActivity;
import gatun.listener.AcceptedChannels;
import gatun.listener.ConnectionUse;
import gatun.listener.ServerTls;
import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Makes the {@link ClientConnection}s of one listener, which must be told to use its {@link #socketOptions} and NIO,
 * and no TLS: the channels are read and written directly, and TLS is spoken on them here. Safe for any thread.
 */
public final class HttpConnections implements ServerConnectionSelector {
    private static final int MAX_PROLOGUE_BYTES = 16 * 1024;
    private static final int MAX_HEADERS_BYTES = 64 * 1024;

    /** As ALPN names it. */
    private static final String PROTOCOL = "http/1.1";

    private final AcceptedChannels channels = new AcceptedChannels(
            // Without it, a response to a pipelining client may wait for that client's delayed acknowledgement.
            SocketOptions.builder().tcpNoDelay(true).build());

    /** Makes Helidon's own connections. Loaded late: its defaults compute large powers, a twentieth of a start. */
    private static final class Http1 {
        // Paths are matched as they are, also those that are no URI. Headers are not validated: Helidon would refuse
        // Content-Encoding, which is handled where a body is read.
        static final Http1ConnectionSelector SELECTOR = Http1ConnectionSelector.builder()
                .config(Http1Config.builder()
                        .maxPrologueLength(MAX_PROLOGUE_BYTES)
                        .maxHeadersSize(MAX_HEADERS_BYTES)
                        .validatePath(false)
                        .validatePrologue(false)
                        .validateRequestHeaders(false)
                        .sendKeepAliveHeader(false)
                        .build())
                .build();

        private Http1() {}
    }

    private final DisconnectWatch watch = new DisconnectWatch();
    private final ConnectionResources resources;
    private final Optional<ServerTls> tls;
    private final long bodyByteRate;

    /** Connections whose listener's own routing answers what the routes leave. {@code bodyByteRate} is 0 for any. */
    public HttpConnections(ConnectionResources resources, Optional<ServerTls> tls, long bodyByteRate) {
        this.resources = resources;
        this.tls = tls;
        this.bodyByteRate = bodyByteRate;
    }

    /** Loads what the first connection does otherwise. For any thread. */
    public static void prepareFirst() {
        Http1.SELECTOR.supportedApplicationProtocols();
    }

    /** Ends connections of slow readers when memory runs out. Thread-safe; does not block. */
    public void endSlowReaders() {
        watch.endSlowReaders();
    }

    /** What the connections of clients are used for now, without those over which people only look at the server. */
    public Stream<ConnectionUse> uses() {
        return watch.connections()
                .filter(connection -> !connection.requests().isViewerOnly())
                .map(ClientConnection::use);
    }

    /** How many connections there are over which people only look at the server. */
    public long viewerCount() {
        return watch.connections()
                .filter(connection -> connection.requests().isViewerOnly())
                .count();
    }

    /** The options that the listener must set on its sockets. */
    public SocketOptions socketOptions() {
        return channels;
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
        return channels.claim(context.childSocketId())
                .map(channel -> connection(context, channel))
                .orElseThrow(() -> new CloseConnectionException("no channel is called " + context.childSocketId()));
    }

    private ClientConnection connection(ConnectionContext context, SocketChannel channel) {
        ClientSocket socket = tls.map(files -> ClientSocket.secured(context, channel, files, PROTOCOL))
                .orElseGet(() -> ClientSocket.plain(channel));
        return new ClientConnection(
                context,
                socket,
                new RequestActivity(resources.stop()),
                resources.budgets().of(context.remotePeer().address()),
                resources.placement(),
                watch,
                new ClientWait(bodyByteRate, System::nanoTime),
                Http1.SELECTOR,
                connection -> new RequestRouting(connection, resources, context.router()));
    }

    /** The objects that all connections of an HTTP listener share. */
    public record ConnectionResources(
            Routes routes,
            AllowedOrigins origins,
            HostNames hosts,
            WorkBudgets budgets,
            StopNotice stop,
            AccessLog accessLog,
            RunPlacement placement) {}
}
