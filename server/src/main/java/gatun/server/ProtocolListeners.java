// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.cloud.sagemaker.SageMakerProtocol;
import gatun.cloud.vertexai.VertexAiProtocol;
import gatun.cloud.vertexai.VertexAiSettings;
import gatun.console.protocol.ConsoleProtocol;
import gatun.grpc.GrpcListener;
import gatun.grpc.GrpcSettings;
import gatun.http.HttpListener;
import gatun.http.HttpSettings;
import gatun.http.connection.Routes;
import gatun.http.metrics.MetricsRoutes;
import gatun.http.routes.OpenApiJson;
import gatun.http.routes.RouteTable;
import gatun.listener.ConnectionLimits;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.ServerTls;
import gatun.listener.TlsException;
import gatun.listener.TlsFiles;
import gatun.listener.WireProtocol;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.server.InferenceServer;
import gatun.server.settings.ClientSettings.AccessSettings;
import gatun.server.settings.CloudSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ListenerSettings.ConsoleSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.server.text.Version;
import gatun.spi.Setting;
import gatun.stores.mirror.FetchWatch;
import gatun.tensorflow.serving.MonitoringFile;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.TensorFlowSettings.Monitoring;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.v2.protocol.V2Protocol;
import io.helidon.webserver.WebServerConfig;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The protocols, and the addresses where each is spoken. */
final class ProtocolListeners {
    private final ServerSettings settings;
    private final List<ListenAddress> addresses;
    private final Optional<ServerTls> httpTls;
    private final Optional<ServerTls> grpcTls;
    private final Optional<Monitoring> monitoring;

    private final OpenConnections open;
    private final Listeners listeners = new Listeners();
    private final List<Listener.Prepared> prepared = new ArrayList<>();

    private volatile List<Endpoint> listening = List.of();

    /** Set once it is prepared. */
    private Optional<HttpListener> http = Optional.empty();

    private Optional<GrpcListener> grpc = Optional.empty();
    private Optional<ConsoleProtocol> consolePage = Optional.empty();
    private Optional<VertexAiProtocol> vertexAi = Optional.empty();

    /**
     * Reads the TLS files and TensorFlow Serving's monitoring file.
     *
     * @param addresses where to listen
     * @throws StartException naming the flag of a file that cannot be used
     */
    ProtocolListeners(ServerSettings settings, List<ListenAddress> addresses) {
        this.settings = settings;
        this.addresses = List.copyOf(addresses);
        this.open = new OpenConnections(settings.clients().connections(), ProtocolListeners::setting);
        try {
            this.httpTls = settings.listeners().http().bind().tls().map(this::load);
            this.grpcTls = settings.listeners().grpc().bind().tls().map(this::load);
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
        requireSafePorts();
        try (OpenResources held = new OpenResources()) {
            for (ListenAddress address : addresses) {
                Listener.reserve(address.protocol(), address.address(), held);
            }
        }
    }

    private void requireSafePorts() {
        CloudSettings.SageMaker sageMaker = settings.listeners().cloud().sageMaker();
        if (!sageMaker.bind().enabled() || sageMaker.otherPorts().isEmpty()) {
            return;
        }
        CloudSettings.PortRange allowed = sageMaker.otherPorts().get();
        for (ListenAddress address : addresses) {
            if (address.protocol() != Endpoint.Protocol.SAGEMAKER
                    && address.address() instanceof InetSocketAddress tcp
                    && !allowed.contains(tcp.getPort())) {
                throw new StartException("The server cannot listen to "
                        + address.protocol().title() + " requests at port " + tcp.getPort()
                        + ", allowed port range is [" + allowed.first() + ", " + allowed.last() + "]");
            }
        }
    }

    /**
     * Makes every protocol of {@code inference} that the settings ask for, and its listeners, which do not listen yet: the
     * models may still be loading. {@code opened} owns them.
     *
     * @param fetches knows what is fetched from stores
     * @throws StartException when a setting of a protocol is wrong
     */
    void prepare(InferenceServer inference, FetchWatch fetches, OpenResources opened) {
        ListenerSettings asked = settings.listeners();
        AccessSettings access = settings.clients().access();
        ProtocolSettings common = new ProtocolSettings(
                asked.http().maxInputSize(),
                settings.memory().clientMemory(),
                asked.http().healthBodies(),
                access.http(),
                access.grpc());
        TensorFlowSettings serving = asked.tensorFlow().protocol();
        Protocol tensorFlow = new TensorFlowProtocol(
                inference, common, monitoring.map(serving::withMonitoring).orElse(serving));
        List<Protocol> protocols = new ArrayList<>();
        V2Protocol v2 = new V2Protocol(inference, common, asked.grpc().compression(), asked.lanes());
        protocols.add(v2);
        protocols.add(tensorFlow);
        // By this class's own loader: an application's thread may know another, which does not have them.
        ServiceLoader.load(ProtocolProvider.class, ProtocolListeners.class.getClassLoader())
                .forEach(found -> protocols.add(found.create(inference, common)));
        HostNames hosts = new HostNames(settings.clients().hosts());
        WorkBudgets budgets = new WorkBudgets(System::nanoTime);
        HttpListener httpListener = new HttpListener(
                inference.buffers(),
                new HttpSettings(asked.http().timeouts(), asked.http().allowedOrigins(), hosts),
                budgets,
                inference.accessLog(),
                inference.placement());
        GrpcListener grpcListener = opened.add(GrpcListener.of(
                inference,
                GrpcSettings.standard()
                        .withKeepalive(asked.grpc().keepalive())
                        .withAccess(access.grpc().access())
                        .withHosts(hosts)
                        .withHealthOfAnyName(asked.grpc().bind().enabled()),
                budgets,
                protocols.stream().flatMap(one -> one.grpc().stream()).toList()));
        OpenConnections operators = new OpenConnections(ConnectionLimits.OPERATORS, ProtocolListeners::setting);
        ConsoleSettings console = asked.console();
        List<Routes> plain = routes(protocols, common);
        List<Routes> withConsole = plain;
        if (console.enabled()
                && (console.port().isPresent() || asked.http().bind().enabled())) {
            ConsoleProtocol page = new ConsoleProtocol(
                    inference,
                    new Surroundings(
                            httpListener,
                            grpcListener,
                            v2,
                            List.of(open, operators),
                            tlsFiles(),
                            fetches,
                            () -> listening),
                    common);
            consolePage = Optional.of(page);
            List<Protocol> all = new ArrayList<>(protocols);
            all.addFirst(page); // before v2, which takes all of /v2
            withConsole = routes(all, common);
        }
        List<Routes> onHttp = console.onHttp() ? withConsole : plain;
        List<Routes> onConsole = withConsole;
        MetricSource gpus = asked.metrics().gpus() ? new NvidiaGpus() : sink -> {};
        Routes metrics = new MetricsRoutes(inference, asked.metrics().shown(), gpus, open);
        vertexAi = vertexAi(inference, common, metrics);
        Optional<Routes> sageMaker = sageMaker(inference, common);
        opened.add(listeners);
        http = Optional.of(httpListener);
        grpc = Optional.of(grpcListener);
        AutoCloseable announcement = grpcListener::announceStop;
        opened.add(announcement);
        for (ListenAddress address : addresses) {
            Consumer<WebServerConfig.Builder> protocol =
                    switch (address.protocol()) {
                        case HTTP -> listener -> httpListener.configure(listener, onHttp);
                        case HTTPS -> listener -> httpListener.configure(listener, httpTls.orElseThrow(), onHttp);
                        case CONSOLE -> listener -> httpListener.configure(listener, onConsole);
                        case CONSOLE_HTTPS ->
                            listener -> httpListener.configure(listener, httpTls.orElseThrow(), onConsole);
                        case GRPC, TENSORFLOW_GRPC -> listener -> serve(grpcListener, address, listener);
                        case TENSORFLOW_REST ->
                            listener -> httpListener.configure(listener, List.of(tensorFlow.http()));
                        case METRICS -> listener -> httpListener.configure(listener, List.of(metrics));
                        case VERTEX_AI ->
                            listener -> httpListener.configure(
                                    listener, List.of(vertexAi.orElseThrow().http()));
                        case SAGEMAKER ->
                            listener -> httpListener.configure(listener, List.of(sageMaker.orElseThrow()));
                    };
            prepared.add(new Listener.Prepared(
                    new Endpoint(address.protocol(), address.address()),
                    wire(address),
                    address.forOperators() ? operators : open,
                    settings.lifecycle().exitTimeout(),
                    protocol));
        }
        consolePage.ifPresent(opened::add);
        // Before the listeners: requests of lanes are answered before the connections that the lanes last as long as
        // end.
        opened.add(v2);
    }

    /**
     * Listens; {@link #prepare} was called before, and the models are loaded.
     *
     * @return where the server now listens
     * @throws StartException when an address cannot be listened on after all, or a protocol misses a model
     */
    List<Endpoint> listen() {
        try {
            vertexAi.ifPresent(VertexAiProtocol::chooseModel);
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
        boolean tls = httpTls.isPresent() || grpcTls.isPresent();
        // Now, when the models have the descriptors that they need.
        open.limit(ConnectionHeap.ofProcess()
                .fit(DescriptorLimit.ofProcess().fit(settings.clients().connections()), tls));
        prepared.forEach(one -> listeners.add(one.start()));
        listening = listeners.endpoints();
        return listening;
    }

    private List<TlsFiles> tlsFiles() {
        return Stream.of(
                        settings.listeners().http().bind(),
                        settings.listeners().grpc().bind())
                .flatMap(bind -> bind.tls().stream())
                .distinct()
                .toList();
    }

    /** The routes of {@code protocols}, in that order, and of their description. */
    private static List<Routes> routes(List<Protocol> protocols, ProtocolSettings common) {
        List<Routes> routes =
                new ArrayList<>(protocols.stream().map(Protocol::http).toList());
        List<RouteTable> tables = protocols.stream().map(Protocol::table).toList();
        routes.add(
                OpenApiJson.table("Gatun", Version.text(), tables, common.http().access()));
        return routes;
    }

    private Optional<VertexAiProtocol> vertexAi(InferenceServer inference, ProtocolSettings common, Routes metrics) {
        CloudSettings.VertexAi asked = settings.listeners().cloud().vertexAi();
        if (!asked.bind().enabled()) {
            return Optional.empty();
        }
        try {
            VertexAiSettings routes =
                    new VertexAiSettings(asked.predictRoute(), asked.healthRoute(), asked.defaultModel());
            return Optional.of(new VertexAiProtocol(inference, common, routes, metrics));
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    private Optional<Routes> sageMaker(InferenceServer inference, ProtocolSettings common) {
        CloudSettings.SageMaker sageMaker = settings.listeners().cloud().sageMaker();
        return sageMaker.bind().enabled()
                ? Optional.of(new SageMakerProtocol(inference, common, sageMaker.protocol()).http())
                : Optional.empty();
    }

    /** From now on, every response and every gRPC connection tells clients to go elsewhere; all are still served. */
    void drain() {
        consolePage.ifPresent(ConsoleProtocol::endViewers);
        http.ifPresent(HttpListener::drain);
        grpc.ifPresent(GrpcListener::askClientsToLeave);
    }

    /** Ends HTTP connections with their current response. Call before anything is refused or a listener stops. */
    void endHttp() {
        consolePage.ifPresent(ConsoleProtocol::endViewers);
        http.ifPresent(HttpListener::end);
    }

    /** Ends HTTP connections with the current response. Call a moment before requests are refused. */
    void cutHttpPipelines() {
        http.ifPresent(HttpListener::cutPipelines);
    }

    /** Reads the certificates anew, for connections that come from now on. */
    void reopen() {
        httpTls.ifPresent(ServerTls::reload);
        grpcTls.ifPresent(ServerTls::reload);
    }

    private static String setting(ConnectionRefusal refusal) {
        return switch (refusal) {
            case SERVER -> Setting.MAX_CONNECTIONS.toString();
            case ADDRESS -> Setting.MAX_CONNECTIONS_PER_ADDRESS.toString();
        };
    }

    /** Whether TLS is served there: where there is any, except on Unix sockets. */
    private boolean securesGrpc(ListenAddress address) {
        return grpcTls.isPresent() && address.address() instanceof InetSocketAddress;
    }

    private void serve(GrpcListener grpc, ListenAddress address, WebServerConfig.Builder listener) {
        if (securesGrpc(address)) {
            grpc.serveOn(listener, grpcTls.orElseThrow());
        } else {
            grpc.serveOn(listener);
        }
    }

    private WireProtocol wire(ListenAddress address) {
        return switch (address.protocol()) {
            case HTTP, TENSORFLOW_REST, METRICS, CONSOLE, VERTEX_AI, SAGEMAKER -> WireProtocol.HTTP;
            case HTTPS, CONSOLE_HTTPS -> WireProtocol.HTTPS;
            case GRPC, TENSORFLOW_GRPC -> securesGrpc(address) ? WireProtocol.GRPCS : WireProtocol.GRPC;
        };
    }
}
