// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.connection.ConnectionSettings;
import gatun.grpc.connection.GrpcConnectionSelector;
import gatun.grpc.health.HealthService;
import gatun.grpc.message.ControlMethods;
import gatun.listener.ConnectionUse;
import gatun.listener.ServerTls;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.server.InferenceServer;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.ListenerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The gRPC services of protocols in front of one server, {@code grpc.health.v1.Health} and reflection, for any number
 * of Helidon listeners. Does not own the server. Close it when the listeners have stopped. Safe for any thread.
 */
public final class GrpcListener implements AutoCloseable {
    private final GrpcConnectionSelector selector;
    private final HealthService health;

    private GrpcListener(GrpcConnectionSelector selector, HealthService health) {
        this.selector = selector;
        this.health = health;
    }

    /** The services of all protocols in front of {@code server}, and health and reflection beside them. */
    public static GrpcListener of(InferenceServer server, GrpcSettings settings, List<GrpcService> protocols) {
        return of(server, settings, new WorkBudgets(System::nanoTime), protocols);
    }

    /** The same where clients have one budget for what they throw away here and elsewhere. */
    public static GrpcListener of(
            InferenceServer server, GrpcSettings settings, WorkBudgets budgets, List<GrpcService> protocols) {
        ConnectionSettings standard = ConnectionSettings.standard();
        ConnectionSettings connections = new ConnectionSettings(
                settings.maxMessageSize(),
                settings.maxConcurrentCalls(),
                standard.maxMetadataSize(),
                standard.streamWindow(),
                standard.connectionWindow(),
                standard.maxFrameSize(),
                settings.keepalive());
        List<GrpcService> services = new ArrayList<>(protocols);
        services.add(GrpcService.open(
                ControlMethods.limit(ProtoReflectionServiceV1.newInstance().bindService(), server)));
        services.add(GrpcService.open(ControlMethods.limit(olderReflection(), server)));
        HealthService health = new HealthService(
                server,
                services.stream()
                        .map(service ->
                                service.definition().getServiceDescriptor().getName())
                        .collect(Collectors.toSet()),
                settings.healthOfAnyName());
        services.add(new GrpcService(
                ControlMethods.limit(health.bindService(), server),
                Map.of("Check", ApiGroup.HEALTH, "Watch", ApiGroup.HEALTH)));
        List<ServerServiceDefinition> restricted = services.stream()
                .map(service -> service.restrict(settings.access()))
                .toList();
        SocketOptions socketOptions = SocketOptions.builder().tcpNoDelay(true).build();
        return new GrpcListener(
                new GrpcConnectionSelector(
                        connections,
                        server.buffers(),
                        restricted,
                        socketOptions,
                        settings.hosts(),
                        budgets,
                        server.accessLog(),
                        server.placement()),
                health);
    }

    /** The reflection that older tools ask for, and that has been given up by everybody but them. */
    @SuppressWarnings("deprecation")
    private static ServerServiceDefinition olderReflection() {
        return ProtoReflectionService.newInstance().bindService();
    }

    /** Has a listener serve gRPC, too. Sets the socket options of its connections: set no others afterwards. */
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

    /** Health answers NOT_SERVING, and watches end. Call before listeners stop, since they wait for calls. */
    public void announceStop() {
        health.announceStop();
    }

    /**
     * Asks the clients of all open connections, by a GOAWAY, to open their next calls on others. Calls that run go on,
     * and those opened here all the same are served; the listeners refuse them when they stop.
     */
    public void askClientsToLeave() {
        selector.askToLeave("the server is about to stop");
    }

    /** At most {@code limit} of the connections that are open, as they are used now, in no order. */
    public List<ConnectionUse> connections(int limit) {
        return selector.uses().limit(limit).toList();
    }

    @Override
    public void close() {
        selector.close();
    }
}
