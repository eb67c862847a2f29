package gatun.grpc;

import gatun.grpc.connection.ConnectionSettings;
import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.v2.HealthService;
import gatun.runtime.InferenceServer;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.ListenerConfig;
import java.util.List;

/**
 * The gRPC services of one server, ready to be put on any number of Helidon listeners, TCP or Unix domain socket. Close it
 * when the listeners have stopped. Safe for any thread.
 */
public final class GrpcEdge implements AutoCloseable {
    private final GrpcConnectionSelector selector;

    private GrpcEdge(GrpcConnectionSelector selector) {
        this.selector = selector;
    }

    /** The services of {@code server}. */
    public static GrpcEdge of(InferenceServer server) {
        return new GrpcEdge(new GrpcConnectionSelector(
                ConnectionSettings.standard(),
                server.buffers(),
                List.of(
                        new HealthService(server).bindService(),
                        ProtoReflectionServiceV1.newInstance().bindService()),
                SocketOptions.builder().tcpNoDelay(true).build()));
    }

    /** Makes a listener serve gRPC besides what else it serves; sets its connections' socket options. */
    public void serveOn(ListenerConfig.BuilderBase<?, ?> listener) {
        listener.connectionOptions(selector.socketOptions());
        listener.addConnectionSelector(selector);
    }

    @Override
    public void close() {
        selector.close();
    }
}
