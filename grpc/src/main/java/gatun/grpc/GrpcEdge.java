// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.connection.ConnectionSettings;
import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.message.ControlMethods;
import gatun.grpc.tensorflow.TensorFlowServices;
import gatun.grpc.v1.V1Services;
import gatun.grpc.v2.HealthService;
import gatun.grpc.v2.InferenceServices;
import gatun.grpc.v2.RestrictedServices;
import gatun.listener.ServerTls;
import gatun.runtime.server.InferenceServer;
import gatun.v1.V1Api;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.ListenerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The gRPC services of one server, ready to be put on any number of Helidon listeners, TCP or Unix domain socket:
 * {@code inference.GRPCInferenceService}, TensorFlow Serving's {@code PredictionService} and {@code ModelService}, the
 * legacy {@code nvidia.inferenceserver.GRPCService}, {@code grpc.health.v1.Health} and reflection. Does not own the server. Close it when the listeners have stopped. Safe for any thread.
 */
public final class GrpcEdge implements AutoCloseable {
    private final GrpcConnectionSelector selector;
    private final HealthService health;

    private GrpcEdge(GrpcConnectionSelector selector, HealthService health) {
        this.selector = selector;
        this.health = health;
    }

    /**
     * The services of {@code server}.
     *
     * @param others what else to serve beside them
     */
    public static GrpcEdge of(InferenceServer server, GrpcSettings settings, ServerServiceDefinition... others) {
        return of(server, new V1Api(server, settings.clientSharedMemory()), settings, others);
    }

    /** The same, with the legacy API that {@code v1} is, and that an HTTP edge may share. */
    public static GrpcEdge of(
            InferenceServer server, V1Api v1, GrpcSettings settings, ServerServiceDefinition... others) {
        ConnectionSettings standard = ConnectionSettings.standard();
        ConnectionSettings connections = new ConnectionSettings(
                settings.maxMessageSize(),
                settings.maxConcurrentCalls(),
                standard.maxMetadataSize(),
                standard.streamWindow(),
                standard.connectionWindow(),
                standard.maxFrameSize(),
                settings.keepalive());
        List<ServerServiceDefinition> services = new ArrayList<>(List.of(
                restricted(
                        settings.compression()
                                .applyTo(InferenceServices.of(
                                        server,
                                        settings.clientSharedMemory(),
                                        settings.headers().forwarding())),
                        settings),
                restricted(TensorFlowServices.prediction(server, settings.tensorFlow()), settings),
                restricted(TensorFlowServices.models(server, settings.tensorFlow()), settings),
                restricted(V1Services.of(server, v1), settings),
                ControlMethods.limit(ProtoReflectionServiceV1.newInstance().bindService(), server),
                ControlMethods.limit(olderReflection(), server)));
        services.addAll(List.of(others));
        HealthService health = new HealthService(
                server,
                services.stream()
                        .map(service -> service.getServiceDescriptor().getName())
                        .collect(Collectors.toSet()));
        services.add(restricted(ControlMethods.limit(health.bindService(), server), settings));
        SocketOptions socketOptions = SocketOptions.builder().tcpNoDelay(true).build();
        return new GrpcEdge(new GrpcConnectionSelector(connections, server.buffers(), services, socketOptions), health);
    }

    private static ServerServiceDefinition restricted(ServerServiceDefinition service, GrpcSettings settings) {
        return RestrictedServices.restrict(service, settings.headers().access());
    }

    /** The reflection that older tools ask for, and that has been given up by everybody but them. */
    @SuppressWarnings("deprecation")
    private static ServerServiceDefinition olderReflection() {
        return ProtoReflectionService.newInstance().bindService();
    }

    /**
     * Makes a listener serve gRPC besides what else it serves. Sets the socket options of its connections, which is how
     * they get at their channels: do not set others afterwards.
     */
    public void serveOn(ListenerConfig.BuilderBase<?, ?> listener) {
        listener.connectionOptions(selector.socketOptions());
        listener.addConnectionSelector(selector);
    }

    /** The same over TLS, on a listener that serves nothing else and knows nothing of TLS itself. */
    public void serveOn(ListenerConfig.BuilderBase<?, ?> listener, ServerTls tls) {
        listener.connectionOptions(selector.socketOptions());
        listener.addConnectionSelector(selector.over(tls));
        listener.protocolsDiscoverServices(false);
    }

    /**
     * From now on the health service answers NOT_SERVING; who watches it hears so, and is let go. Call this before the listeners stop: they
     * wait for running calls, and a watch ends by itself only when its client wants.
     */
    public void announceStop() {
        health.announceStop();
    }

    /**
     * Asks the clients of all connections that are open now, by a GOAWAY, to open their next calls on other connections. Calls that run go
     * on, and those that a client opens here all the same are served; refusing them is what the listeners do when they stop.
     */
    public void askClientsToLeave() {
        selector.askToLeave("the server is about to stop");
    }

    @Override
    public void close() {
        selector.close();
    }
}
