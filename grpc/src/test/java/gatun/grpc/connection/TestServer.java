// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.listener.ServerTls;
import gatun.memory.buffers.BufferPool;
import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.grpc.ManagedChannel;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.net.InetAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

/** A listener with the connection under test, on a port of its own. */
final class TestServer implements AutoCloseable {
    private static final long POOL_SIZE = 1L << 30;

    private final BufferPool pool;
    private final GrpcConnectionSelector selector;
    private final WebServer server;

    private TestServer(
            ConnectionSettings settings,
            long poolSize,
            List<ServerServiceDefinition> services,
            Consumer<WebServerConfig.Builder> listener) {
        this(settings, poolSize, new WorkBudgets(System::nanoTime), services, selector -> selector, listener);
    }

    private TestServer(
            ConnectionSettings settings,
            long poolSize,
            WorkBudgets budgets,
            List<ServerServiceDefinition> services,
            Function<GrpcConnectionSelector, ServerConnectionSelector> selection,
            Consumer<WebServerConfig.Builder> listener) {
        this.pool = new BufferPool(poolSize);
        this.selector = new GrpcConnectionSelector(
                settings,
                pool,
                services,
                SocketOptions.builder().tcpNoDelay(true).build(),
                HostNames.any(),
                budgets,
                AccessLog.OFF,
                RunPlacement.of(true));
        WebServerConfig.Builder config = WebServer.builder()
                .address(InetAddress.getLoopbackAddress())
                .port(0)
                .connectionOptions(selector.socketOptions())
                .addConnectionSelector(selection.apply(selector))
                .protocolsDiscoverServices(false)
                .shutdownHook(false)
                .shutdownGracePeriod(Duration.ofSeconds(5));
        listener.accept(config);
        this.server = config.build().start();
    }

    /** Settings with other limits than usual. */
    static ConnectionSettings settings(
            int maxMessageSize,
            int maxConcurrentCalls,
            int maxMetadataSize,
            int streamWindow,
            int connectionWindow,
            int maxFrameSize) {
        return new ConnectionSettings(
                maxMessageSize,
                maxConcurrentCalls,
                maxMetadataSize,
                streamWindow,
                connectionWindow,
                maxFrameSize,
                KeepaliveSettings.standard());
    }

    /** The usual settings but for how connections are kept alive. */
    static ConnectionSettings settings(KeepaliveSettings keepalive) {
        ConnectionSettings standard = ConnectionSettings.standard();
        return new ConnectionSettings(
                standard.maxMessageSize(),
                standard.maxConcurrentCalls(),
                standard.maxMetadataSize(),
                standard.streamWindow(),
                standard.connectionWindow(),
                standard.maxFrameSize(),
                keepalive);
    }

    static TestServer start(ServerServiceDefinition... services) {
        return start(ConnectionSettings.standard(), services);
    }

    static TestServer start(ConnectionSettings settings, ServerServiceDefinition... services) {
        return new TestServer(settings, POOL_SIZE, List.of(services), listener -> {});
    }

    static TestServer withPool(long poolSize, ServerServiceDefinition... services) {
        return new TestServer(ConnectionSettings.standard(), poolSize, List.of(services), listener -> {});
    }

    /** A server whose clients have these budgets for what they throw away. */
    static TestServer withBudgets(WorkBudgets budgets, ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(),
                POOL_SIZE,
                budgets,
                List.of(services),
                selector -> selector,
                listener -> {});
    }

    static TestServer overTls(ServerTls tls, ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(),
                POOL_SIZE,
                new WorkBudgets(System::nanoTime),
                List.of(services),
                selector -> selector.over(tls),
                listener -> {});
    }

    /** A listener that ends connections which have had nothing to do for so long. */
    static TestServer closingIdleAfter(Duration time, ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(), POOL_SIZE, List.of(services), listener -> listener.idleConnectionTimeout(
                                time)
                        .idleConnectionPeriod(time));
    }

    static TestServer onUnixSocket(Path socket, ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(),
                POOL_SIZE,
                List.of(services),
                listener -> listener.bindAddress(UnixDomainSocketAddress.of(socket)));
    }

    /** A listener that serves HTTP/1.1 too. */
    static TestServer besidesHttp(ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(),
                POOL_SIZE,
                List.of(services),
                listener -> listener.protocolsDiscoverServices(true)
                        .routing(routing -> routing.get("/page", (request, response) -> response.send("a page"))));
    }

    /** A listener that does not show its channels. */
    static TestServer withoutChannels(ServerServiceDefinition... services) {
        return new TestServer(
                ConnectionSettings.standard(),
                POOL_SIZE,
                List.of(services),
                listener -> listener.connectionOptions(
                        SocketOptions.builder().tcpNoDelay(true).build()));
    }

    int port() {
        return server.port();
    }

    /** A grpc-java client's channel; the caller shuts it down. */
    ManagedChannel channel() {
        return NettyChannelBuilder.forAddress("127.0.0.1", port())
                .usePlaintext()
                .maxInboundMessageSize(64 << 20)
                .build();
    }

    /** Bytes of the pool that are lent now. */
    long lentBytes() {
        return pool.usedBytes();
    }

    /** Waits until all of the pool's memory is back. */
    void awaitNothingLent() {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (pool.usedBytes() > 0) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError(pool.usedBytes() + " bytes are still lent");
            }
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }

    /** Asks all clients to leave. */
    void askToLeave() {
        selector.askToLeave("leave");
    }

    /** Stops as an operator would; returns when every connection is gone. */
    void stop() {
        server.stop();
    }

    @Override
    public void close() {
        server.stop();
        selector.close();
        pool.close();
    }
}
