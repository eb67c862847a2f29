// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.grpc.GrpcListener;
import gatun.grpc.GrpcSettings;
import gatun.http.HttpListener;
import gatun.http.HttpSettings;
import gatun.http.connection.Routes;
import gatun.http.metrics.MetricsRoutes;
import gatun.http.routes.OpenApiJson;
import gatun.http.routes.RouteTable;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.ServerTls;
import gatun.listener.TlsException;
import gatun.listener.TlsFiles;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolProvider.CommonAddresses;
import gatun.protocol.ProtocolProvider.ProtocolContext;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.server.InferenceServer;
import gatun.server.settings.ClientSettings.AccessSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.StartException;
import gatun.server.text.Version;
import gatun.spi.Setting;
import gatun.stores.mirror.FetchWatch;
import io.helidon.webserver.WebServerConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** The protocols, and the addresses where each is spoken. */
final class ProtocolListeners {
    private final ServerSettings settings;
    private final List<Endpoint> endpoints;

    /** The protocols with ports of their own, by the keys of these. */
    private final Map<String, ProtocolProvider> owners = new HashMap<>();

    private final Optional<ServerTls> httpTls;
    private final Optional<ServerTls> grpcTls;

    private final OpenConnections open;
    private final Listeners listeners = new Listeners();
    private final List<Listener.Prepared> prepared = new ArrayList<>();

    private volatile List<Endpoint> listening = List.of();

    /** The protocols by precedence; set by {@link #prepare}. */
    private final SequencedMap<ProtocolProvider, Protocol> protocols = new LinkedHashMap<>();

    private Optional<HttpListener> http = Optional.empty();
    private Optional<GrpcListener> grpc = Optional.empty();

    /** Reads the TLS files. Throws {@link StartException}, which names the flag of a file that cannot be used. */
    ProtocolListeners(ServerSettings settings, List<Endpoint> endpoints) {
        this.settings = settings;
        this.endpoints = List.copyOf(endpoints);
        this.open = new OpenConnections(settings.clients().connections(), ProtocolListeners::setting);
        ListenerSettings asked = settings.listeners();
        try {
            this.httpTls = asked.http().bind().tls().map(this::load);
            this.grpcTls = asked.grpc().bind().tls().map(this::load);
        } catch (TlsException e) {
            throw new StartException(e.getMessage(), e);
        }
        CommonAddresses common = new CommonAddresses(
                asked.http().bind().address(), asked.grpc().bind().address());
        for (ProtocolProvider protocol : asked.protocols()) {
            protocol.ports(common).forEach(port -> owners.put(port.kind().key(), protocol));
        }
    }

    private ServerTls load(TlsFiles files) {
        return ServerTls.load(files, settings.clients().connections().handshakeLimit());
    }

    /** Binds every address for a moment. Throws {@link StartException}, which names the first flag that fails. */
    void reserve() {
        try {
            settings.listeners().protocols().forEach(protocol -> protocol.begin(endpoints));
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
        try (ResourceStack held = new ResourceStack()) {
            endpoints.forEach(endpoint -> Listener.reserve(endpoint, held));
        }
    }

    /** Creates the protocols and the listeners, which do not listen yet. {@code resources} owns them. */
    void prepare(InferenceServer inference, FetchWatch fetches, ResourceStack resources) {
        ListenerSettings asked = settings.listeners();
        AccessSettings access = settings.clients().access();
        HostNames hosts = new HostNames(settings.clients().hosts());
        WorkBudgets budgets = new WorkBudgets(System::nanoTime);
        HttpListener httpListener = new HttpListener(
                inference.buffers(),
                new HttpSettings(asked.http().timeouts(), asked.http().allowedOrigins(), hosts),
                budgets,
                inference.accessLog(),
                inference.placement());
        OpenConnections operators = new OpenConnections(ConnectionLimits.OPERATORS, ProtocolListeners::setting);
        MetricSource gpus = asked.metrics().gpus() ? new NvidiaGpus() : sink -> {};
        Routes metrics = new MetricsRoutes(inference, asked.metrics().shown(), gpus, open);
        ProtocolContext context = new ProtocolContext(
                inference,
                new ProtocolSettings(
                        asked.http().maxInputSize(),
                        settings.memory().clientMemory(),
                        asked.http().healthBodies(),
                        access.http(),
                        access.grpc()),
                asked.http().bind().enabled(),
                metrics,
                new ServerInfo(
                        httpListener,
                        () -> grpc,
                        () -> protocols.sequencedValues().stream()
                                .flatMap(protocol -> protocol.lanes().stream())
                                .toList(),
                        List.of(open, operators),
                        tlsFiles(),
                        fetches,
                        () -> listening));
        create(context);
        GrpcListener grpcListener = resources.add(GrpcListener.of(
                inference,
                GrpcSettings.standard()
                        .withKeepalive(asked.grpc().keepalive())
                        .withAccess(access.grpc().access())
                        .withHosts(hosts)
                        .withHealthOfAnyName(asked.grpc().bind().enabled()),
                budgets,
                protocols.sequencedValues().stream()
                        .flatMap(one -> one.grpc().stream())
                        .toList()));
        resources.add(listeners);
        http = Optional.of(httpListener);
        grpc = Optional.of(grpcListener);
        AutoCloseable announcement = grpcListener::announceStop;
        resources.add(announcement);
        for (Endpoint endpoint : endpoints) {
            prepared.add(new Listener.Prepared(
                    endpoint,
                    endpoint.kind().audience() == Audience.OPERATORS ? operators : open,
                    settings.lifecycle().exitTimeout(),
                    endpoint.kind().transport() == Transport.GRPC
                            ? listener -> serve(grpcListener, endpoint, listener)
                            : listener -> serve(httpListener, endpoint, routes(endpoint.kind(), context), listener)));
        }
        // Before the listeners: requests of lanes are answered before the connections that the lanes last as long as
        // end.
        protocols.sequencedValues().forEach(resources::add);
    }

    private void create(ProtocolContext context) {
        try {
            for (ProtocolProvider provider : settings.listeners().protocols()) {
                provider.create(context).ifPresent(protocol -> protocols.put(provider, protocol));
            }
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    /** Listens, after {@link #prepare}. Throws {@link StartException} for an address or a missing model. */
    List<Endpoint> listen() {
        try {
            endpoints.stream()
                    .flatMap(endpoint -> owned(endpoint.kind()).stream())
                    .distinct()
                    .forEach(Protocol::beforeOwnPorts);
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

    /** The protocol whose own port it is; empty for a shared one. */
    private Optional<Protocol> owned(Kind kind) {
        return Optional.ofNullable(owners.get(kind.key())).map(protocols::get);
    }

    private List<Routes> routes(Kind kind, ProtocolContext context) {
        Optional<Protocol> owner = owned(kind);
        if (!kind.shared()) {
            return List.of(owner.map(Protocol::http).orElse(context.metrics()));
        }
        List<Protocol> spoken = protocols.sequencedValues().stream()
                .filter(protocol ->
                        protocol.shared() || owner.filter(protocol::equals).isPresent())
                .toList();
        List<Routes> routes =
                new ArrayList<>(spoken.stream().map(Protocol::http).toList());
        List<RouteTable> tables = spoken.stream().map(Protocol::table).toList();
        routes.add(OpenApiJson.table(
                "Gatun", Version.text(), tables, context.settings().http().access()));
        return routes;
    }

    /** From now on, every response and every gRPC connection tells clients to go elsewhere; all are still served. */
    void drain() {
        protocols.sequencedValues().forEach(Protocol::drain);
        http.ifPresent(HttpListener::drain);
        grpc.ifPresent(GrpcListener::askClientsToLeave);
    }

    /** Ends HTTP connections with their current response. Call before anything is refused or a listener stops. */
    void endHttp() {
        protocols.sequencedValues().forEach(Protocol::drain);
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

    private void serve(HttpListener http, Endpoint endpoint, List<Routes> routes, WebServerConfig.Builder listener) {
        if (endpoint.tls()) {
            http.configure(listener, httpTls.orElseThrow(), routes);
        } else {
            http.configure(listener, routes);
        }
    }

    private void serve(GrpcListener grpc, Endpoint endpoint, WebServerConfig.Builder listener) {
        if (endpoint.tls()) {
            grpc.serveOn(listener, grpcTls.orElseThrow());
        } else {
            grpc.serveOn(listener);
        }
    }

    private static String setting(ConnectionRefusal refusal) {
        return switch (refusal) {
            case SERVER -> Setting.MAX_CONNECTIONS.toString();
            case ADDRESS -> Setting.MAX_CONNECTIONS_PER_ADDRESS.toString();
        };
    }
}
