// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.testing;

import gatun.grpc.GrpcListener;
import gatun.grpc.GrpcService;
import gatun.grpc.GrpcSettings;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.InferenceServer;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/** The services of a server on a port of their own, and a client's channel to them. */
public final class TestServer implements AutoCloseable {
    private final GrpcListener edge;
    private final WebServer listener;
    private final ManagedChannel channel;

    /** Makes a protocol with settings of the test's own. */
    @FunctionalInterface
    public interface ProtocolMaker {
        /** The protocol in front of {@code server}. */
        Protocol create(InferenceServer server, ProtocolSettings settings);
    }

    /** The services of {@code protocols} in front of {@code server}. */
    public TestServer(InferenceServer server, TestServerSettings settings, ProtocolMaker... protocols) {
        List<GrpcService> services = new ArrayList<>();
        for (ProtocolMaker protocol : protocols) {
            services.addAll(protocol.create(server, settings.protocol()).grpc());
        }
        edge = GrpcListener.of(
                server,
                GrpcSettings.standard()
                        .withAccess(settings.protocol().grpc().access())
                        .withHosts(settings.http().hosts()),
                services);
        WebServerConfig.Builder config = WebServer.builder()
                .address(InetAddress.getLoopbackAddress())
                .port(0)
                .protocolsDiscoverServices(false)
                .shutdownHook(false);
        edge.serveOn(config);
        listener = config.build().start();
        channel = NettyChannelBuilder.forAddress("127.0.0.1", listener.port())
                .usePlaintext()
                .maxInboundMessageSize(64 << 20)
                .build();
    }

    /** A channel to the port. */
    public ManagedChannel channel() {
        return channel;
    }

    /** The port. */
    public int port() {
        return listener.port();
    }

    /** Announces the stop, as a server does before it stops its listeners. */
    public void announceStop() {
        edge.announceStop();
    }

    @Override
    public void close() {
        channel.shutdownNow();
        listener.stop();
        edge.close();
    }
}
