// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.runtime.server.InferenceServer;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import java.net.InetAddress;

/** The services of a server on a port of their own, and a client's channel to them. */
public final class EdgeServer implements AutoCloseable {
    private final GrpcEdge edge;
    private final WebServer listener;
    private final ManagedChannel channel;

    public EdgeServer(InferenceServer server, GrpcSettings settings) {
        edge = GrpcEdge.of(server, settings);
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

    public ManagedChannel channel() {
        return channel;
    }

    public int port() {
        return listener.port();
    }

    /** What a server does before it stops its listeners. */
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
