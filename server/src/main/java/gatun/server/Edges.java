// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.grpc.GrpcEdge;
import gatun.grpc.GrpcSettings;
import gatun.grpc.tensorflow.TensorFlowSettings;
import gatun.http.HttpEdge;
import gatun.http.HttpSettings;
import gatun.http.metrics.GpuUse;
import gatun.http.tensorflow.Monitoring;
import gatun.listener.ConnectionLimits;
import gatun.listener.OpenConnections;
import gatun.listener.ServerTls;
import gatun.listener.TlsException;
import gatun.listener.TlsFiles;
import gatun.listener.WireProtocol;
import gatun.memory.tensor.GatunException;
import gatun.runtime.server.InferenceServer;
import gatun.server.Endpoint.Protocol;
import gatun.server.settings.AccessSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.tensorflow.serving.MonitoringFile;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.v1.V1Api;
import io.helidon.webserver.WebServerConfig;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
            this.httpTls = settings.http().tls().map(this::load);
            this.grpcTls = settings.grpc().tls().map(this::load);
        } catch (TlsException e) {
            throw new StartException(e.getMessage(), e);
        }
        try {
            this.monitoring = settings.metrics()
                    .monitoringFile()
                    .flatMap(MonitoringFile::path)
                    .map(path -> new Monitoring(new ServingMetrics(), path));
        } catch (GatunException e) {
            throw new StartException("--monitoring_config_file: " + e.getMessage(), e);
        }
    }

    private ServerTls load(TlsFiles files) {
        return ServerTls.load(files, settings.connections().handshakeLimit());
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

    private record Place(Protocol protocol, SocketAddress address) {}

    private List<Place> places() {
        List<Place> places = new ArrayList<>();
        ServerSettings.HttpSettings http = settings.http();
        if (http.enabled()) {
            Protocol onPort = httpTls.isPresent() ? Protocol.HTTPS : Protocol.HTTP;
            places.add(new Place(onPort, new InetSocketAddress(http.address(), http.port())));
            addUnixSocket(places, Protocol.HTTP, http.unixSocket());
        }
        if (http.tensorFlow().port() != 0) {
            places.add(new Place(
                    Protocol.TENSORFLOW_REST,
                    new InetSocketAddress(http.address(), http.tensorFlow().port())));
        }
        ServerSettings.GrpcSettings grpc = settings.grpc();
        if (grpc.enabled()) {
            places.add(new Place(Protocol.GRPC, new InetSocketAddress(grpc.address(), grpc.port())));
        }
        if (grpc.enabled() || grpc.tensorFlowPort() != 0) {
            addUnixSocket(places, Protocol.GRPC, grpc.unixSocket());
        }
        if (grpc.tensorFlowPort() != 0) {
            places.add(
                    new Place(Protocol.TENSORFLOW_GRPC, new InetSocketAddress(grpc.address(), grpc.tensorFlowPort())));
        }
        ServerSettings.MetricsSettings metrics = settings.metrics();
        if (metrics.enabled()) {
            places.add(new Place(Protocol.METRICS, new InetSocketAddress(metrics.address(), metrics.port())));
        }
        return places;
    }

    /** A Unix socket is protected by its mode, and clients that could use TLS there are hardly known. */
    private static void addUnixSocket(List<Place> places, Protocol protocol, Optional<Path> unixSocket) {
        unixSocket.ifPresent(path -> places.add(new Place(protocol, UnixDomainSocketAddress.of(path))));
    }

    /**
     * Speaks every protocol of {@code inference} where the settings say so; what that opens, {@code opened} owns.
     *
     * @return where the server now listens
     * @throws StartException when an address cannot be listened on after all
     */
    List<Endpoint> listen(InferenceServer inference, Opened opened) {
        boolean sharedMemory = settings.memory().clientSharedMemory();
        AccessSettings access = settings.access();
        V1Api v1 = new V1Api(inference, sharedMemory);
        HttpEdge httpEdge = new HttpEdge(
                inference,
                v1,
                new HttpSettings(
                        settings.http().maxInputSize(),
                        sharedMemory,
                        settings.metrics().shown(),
                        access.http(),
                        settings.http().patience(),
                        monitoring
                                .map(settings.http().tensorFlow().settings()::with)
                                .orElse(settings.http().tensorFlow().settings()),
                        settings.http().allowedOrigins()));
        GrpcEdge grpcEdge = opened.add(GrpcEdge.of(
                inference,
                v1,
                GrpcSettings.standard()
                        .withClientSharedMemory(sharedMemory)
                        .withKeepalive(settings.grpc().keepalive())
                        .withHeaders(access.grpc())
                        .withCompression(settings.grpc().compression())
                        .withTensorFlow(new TensorFlowSettings(
                                settings.grpc().tensorContent(),
                                settings.grpc().anyLabels(),
                                settings.http().tensorFlow().settings().methodNames(),
                                monitoring.map(Monitoring::metrics)))));
        boolean tls = httpTls.isPresent() || grpcTls.isPresent();
        OpenConnections open = new OpenConnections(
                ConnectionHeap.ofProcess().fit(DescriptorLimit.ofProcess().fit(settings.connections()), tls));
        OpenConnections operators = new OpenConnections(ConnectionLimits.OPERATORS);
        Supplier<List<GpuUse>> gpus = settings.metrics().gpus() ? new NvidiaGpus() : List::of;
        Listeners listeners = opened.add(new Listeners());
        http = Optional.of(httpEdge);
        grpc = Optional.of(grpcEdge);
        AutoCloseable announcement = grpcEdge::announceStop;
        opened.add(announcement);
        for (Place place : places()) {
            Consumer<WebServerConfig.Builder> protocol =
                    switch (place.protocol()) {
                        case HTTP -> httpEdge::configure;
                        case HTTPS -> listener -> httpEdge.configure(listener, httpTls.orElseThrow());
                        case GRPC, TENSORFLOW_GRPC -> listener -> serve(grpcEdge, place, listener);
                        case TENSORFLOW_REST -> httpEdge::configureTensorFlow;
                        case METRICS -> listener -> httpEdge.configureMetrics(listener, gpus, open);
                    };
            listeners.add(Listener.start(
                    new Endpoint(place.protocol(), place.address()),
                    wire(place),
                    place.protocol() == Protocol.METRICS ? operators : open,
                    settings.lifecycle().exitTimeout(),
                    protocol));
        }
        return listeners.endpoints();
    }

    /** From now on clients hear with each response, and on each gRPC connection, that they should go elsewhere; all are still served. */
    void drain() {
        http.ifPresent(HttpEdge::drain);
        grpc.ifPresent(GrpcEdge::askClientsToLeave);
    }

    /**
     * Lets HTTP connections end with the response that they wait for, or soon. To be called before anything is refused, and before the
     * listeners stop.
     */
    void endHttp() {
        http.ifPresent(HttpEdge::end);
    }

    /** Lets HTTP connections end with the response at hand, whatever waits behind it. To be called a moment before requests are refused. */
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
