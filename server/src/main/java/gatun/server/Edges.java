// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.grpc.GrpcEdge;
import gatun.grpc.GrpcSettings;
import gatun.http.HttpEdge;
import gatun.http.HttpSettings;
import gatun.http.connection.Routes;
import gatun.http.metrics.GpuUse;
import gatun.http.metrics.MetricsRoutes;
import gatun.listener.ConnectionLimits;
import gatun.listener.OpenConnections;
import gatun.listener.ServerTls;
import gatun.listener.TlsException;
import gatun.listener.TlsFiles;
import gatun.listener.WireProtocol;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.InferenceServer;
import gatun.server.settings.AccessSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.tensorflow.serving.Monitoring;
import gatun.tensorflow.serving.MonitoringFile;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.v2.protocol.V2Protocol;
import io.helidon.webserver.WebServerConfig;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Which protocols are spoken where. */
final class Edges {
    private final ServerSettings settings;
    private final Optional<ServerTls> httpTls;
    private final Optional<ServerTls> grpcTls;
    private final Optional<Monitoring> monitoring;

    /** Set once it listens. */
    private Optional<HttpEdge> http = Optional.empty();

    private Optional<GrpcEdge> grpc = Optional.empty();

    /**
     * Reads what TLS is served with, and what is counted for TensorFlow Serving's metrics.
     *
     * @throws StartException naming the flag of a file that cannot be used
     */
    Edges(ServerSettings settings) {
        this.settings = settings;
        try {
            this.httpTls = settings.listeners().http().place().tls().map(this::load);
            this.grpcTls = settings.listeners().grpc().place().tls().map(this::load);
        } catch (TlsException e) {
            throw new StartException(e.getMessage(), e);
        }
        try {
            this.monitoring = settings.listeners()
                    .tensorFlow()
                    .monitoringFile()
                    .flatMap(MonitoringFile::path)
                    .map(path -> new Monitoring(new ServingMetrics(), path));
        } catch (GatunException e) {
            throw new StartException("--monitoring_config_file: " + e.getMessage(), e);
        }
    }

    private ServerTls load(TlsFiles files) {
        return ServerTls.load(files, settings.clients().connections().handshakeLimit());
    }

    /**
     * Finds out whether every address can be listened on, before models are loaded.
     *
     * @throws StartException naming the flag of the first that cannot
     */
    void reserve() {
        try (Opened held = new Opened()) {
            for (Place place : places()) {
                Listener.reserve(place.protocol(), place.address(), held);
            }
        }
    }

    private record Place(Endpoint.Protocol protocol, SocketAddress address) {}

    private List<Place> places() {
        List<Place> places = new ArrayList<>();
        ListenerSettings listeners = settings.listeners();
        ListenerSettings.TensorFlowServingSettings tensorFlow = listeners.tensorFlow();
        ListenerSettings.Place http = listeners.http().place();
        if (http.enabled()) {
            places.add(onPort(
                    httpTls.isPresent() ? Endpoint.Protocol.HTTPS : Endpoint.Protocol.HTTP,
                    http.address(),
                    http.port()));
            addUnixSocket(places, Endpoint.Protocol.HTTP, http.unixSocket());
        }
        if (tensorFlow.restPort() != 0) {
            places.add(onPort(Endpoint.Protocol.TENSORFLOW_REST, http.address(), tensorFlow.restPort()));
        }
        ListenerSettings.Place grpc = listeners.grpc().place();
        if (grpc.enabled()) {
            places.add(onPort(Endpoint.Protocol.GRPC, grpc.address(), grpc.port()));
        }
        if (grpc.enabled() || tensorFlow.grpcPort() != 0) {
            addUnixSocket(places, Endpoint.Protocol.GRPC, grpc.unixSocket());
        }
        if (tensorFlow.grpcPort() != 0) {
            places.add(onPort(Endpoint.Protocol.TENSORFLOW_GRPC, grpc.address(), tensorFlow.grpcPort()));
        }
        ListenerSettings.MetricsSettings metrics = listeners.metrics();
        if (metrics.enabled()) {
            places.add(onPort(Endpoint.Protocol.METRICS, metrics.address(), metrics.port()));
        }
        return places;
    }

    private static Place onPort(Endpoint.Protocol protocol, String address, int port) {
        return new Place(protocol, new InetSocketAddress(address, port));
    }

    /** A Unix socket is protected by its mode, and clients that could use TLS there are hardly known. */
    private static void addUnixSocket(List<Place> places, Endpoint.Protocol protocol, Optional<Path> unixSocket) {
        unixSocket.ifPresent(path -> places.add(new Place(protocol, UnixDomainSocketAddress.of(path))));
    }

    /**
     * Speaks every protocol of {@code inference} where the settings say so; what that opens, {@code opened} owns.
     *
     * @return where the server now listens
     * @throws StartException when an address cannot be listened on after all
     */
    List<Endpoint> listen(InferenceServer inference, Opened opened) {
        ListenerSettings listening = settings.listeners();
        AccessSettings access = settings.clients().access();
        ProtocolSettings common = new ProtocolSettings(
                listening.http().maxInputSize(), settings.memory().clientSharedMemory(), access.http(), access.grpc());
        TensorFlowSettings serving = listening.tensorFlow().protocol();
        Protocol tensorFlow = new TensorFlowProtocol(
                inference, common, monitoring.map(serving::withMonitoring).orElse(serving));
        List<Protocol> protocols = new ArrayList<>();
        protocols.add(new V2Protocol(inference, common, listening.grpc().compression()));
        protocols.add(tensorFlow);
        ServiceLoader.load(ProtocolProvider.class).forEach(found -> protocols.add(found.create(inference, common)));
        List<Routes> routes = protocols.stream().map(Protocol::http).toList();
        HttpEdge httpEdge = new HttpEdge(
                inference.buffers(),
                new HttpSettings(listening.http().patience(), listening.http().allowedOrigins()));
        GrpcEdge grpcEdge = opened.add(GrpcEdge.of(
                inference,
                GrpcSettings.standard()
                        .withKeepalive(listening.grpc().keepalive())
                        .withAccess(access.grpc().access()),
                protocols.stream().flatMap(one -> one.grpc().stream()).toList()));
        boolean tls = httpTls.isPresent() || grpcTls.isPresent();
        OpenConnections open = new OpenConnections(ConnectionHeap.ofProcess()
                .fit(DescriptorLimit.ofProcess().fit(settings.clients().connections()), tls));
        OpenConnections operators = new OpenConnections(ConnectionLimits.OPERATORS);
        Supplier<List<GpuUse>> gpus = listening.metrics().gpus() ? new NvidiaGpus() : List::of;
        Routes metrics = new MetricsRoutes(inference, listening.metrics().shown(), gpus, open);
        Listeners listeners = opened.add(new Listeners());
        http = Optional.of(httpEdge);
        grpc = Optional.of(grpcEdge);
        AutoCloseable announcement = grpcEdge::announceStop;
        opened.add(announcement);
        for (Place place : places()) {
            Consumer<WebServerConfig.Builder> protocol =
                    switch (place.protocol()) {
                        case HTTP -> listener -> httpEdge.configure(listener, routes);
                        case HTTPS -> listener -> httpEdge.configure(listener, httpTls.orElseThrow(), routes);
                        case GRPC, TENSORFLOW_GRPC -> listener -> serve(grpcEdge, place, listener);
                        case TENSORFLOW_REST -> listener -> httpEdge.configure(listener, List.of(tensorFlow.http()));
                        case METRICS -> listener -> httpEdge.configure(listener, List.of(metrics));
                    };
            listeners.add(Listener.start(
                    new Endpoint(place.protocol(), place.address()),
                    wire(place),
                    place.protocol() == Endpoint.Protocol.METRICS ? operators : open,
                    settings.lifecycle().exitTimeout(),
                    protocol));
        }
        return listeners.endpoints();
    }

    /**
     * From now on clients hear with each response, and on each gRPC connection, that they should go elsewhere; all are
     * still served.
     */
    void drain() {
        http.ifPresent(HttpEdge::drain);
        grpc.ifPresent(GrpcEdge::askClientsToLeave);
    }

    /**
     * Lets HTTP connections end with the response that they wait for, or soon. To be called before anything is refused,
     * and before the listeners stop.
     */
    void endHttp() {
        http.ifPresent(HttpEdge::end);
    }

    /**
     * Lets HTTP connections end with the response at hand, whatever waits behind it. To be called a moment before
     * requests are refused.
     */
    void cutHttpPipelines() {
        http.ifPresent(HttpEdge::cutPipelines);
    }

    /** Reads the certificates anew, for connections that come from now on. */
    void reopen() {
        httpTls.ifPresent(ServerTls::reload);
        grpcTls.ifPresent(ServerTls::reload);
    }

    /** Over TLS where there is any, but for Unix sockets. */
    private boolean securesGrpc(Place place) {
        return grpcTls.isPresent() && place.address() instanceof InetSocketAddress;
    }

    private void serve(GrpcEdge grpc, Place place, WebServerConfig.Builder listener) {
        if (securesGrpc(place)) {
            grpc.serveOn(listener, grpcTls.orElseThrow());
        } else {
            grpc.serveOn(listener);
        }
    }

    private WireProtocol wire(Place place) {
        return switch (place.protocol()) {
            case HTTP, TENSORFLOW_REST, METRICS -> WireProtocol.HTTP;
            case HTTPS -> WireProtocol.HTTPS;
            case GRPC, TENSORFLOW_GRPC -> securesGrpc(place) ? WireProtocol.GRPCS : WireProtocol.GRPC;
        };
    }
}
