// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.http.HttpTimeouts;
import gatun.listener.TlsFiles;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolProvider.CommonAddresses;
import gatun.runtime.metrics.ShownMetrics;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/** The settings of listeners. {@code protocols} are in the order of their precedence, with their own settings. */
public record ListenerSettings(
        HttpSettings http, GrpcSettings grpc, MetricsSettings metrics, List<ProtocolProvider> protocols) {
    private static final String EVERY_ADDRESS = "0.0.0.0";

    private static final Comparator<Endpoint> ORDER = Comparator.comparing(
                    (Endpoint endpoint) -> endpoint.kind().audience())
            .thenComparing(endpoint -> endpoint.kind().transport());

    /** Keeps a copy. */
    public ListenerSettings {
        protocols = List.copyOf(protocols);
    }

    /** The ports of Triton, on every address, and the protocols whose jars are there. */
    public static ListenerSettings standard() {
        // By this class's own loader: an application's thread may know another, which does not have them.
        List<ProtocolProvider> found =
                ServiceLoader.load(ProtocolProvider.class, ListenerSettings.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .sorted(Comparator.comparingInt(ProtocolProvider::precedence))
                        .toList();
        return new ListenerSettings(HttpSettings.STANDARD, GrpcSettings.STANDARD, MetricsSettings.STANDARD, found);
    }

    /** The same for a server within another program: nothing listens. */
    public ListenerSettings embedded() {
        protocols.forEach(ProtocolProvider::embed);
        return new ListenerSettings(
                new HttpSettings(
                        http.bind.disabled(), http.maxInputSize, http.timeouts, http.allowedOrigins, http.healthBodies),
                new GrpcSettings(grpc.bind.disabled(), grpc.keepalive),
                new MetricsSettings(false, metrics.address, metrics.port, metrics.shown, metrics.gpus),
                protocols);
    }

    /** The same protocols in the same way, but neither TLS nor metrics. */
    public ListenerSettings plain() {
        return new ListenerSettings(
                new HttpSettings(
                        http.bind.plain(), http.maxInputSize, http.timeouts, http.allowedOrigins, http.healthBodies),
                new GrpcSettings(grpc.bind.plain(), grpc.keepalive),
                new MetricsSettings(false, metrics.address, metrics.port, metrics.shown, false),
                protocols);
    }

    /** The places to listen on. */
    public List<Endpoint> endpoints() {
        List<Endpoint> endpoints = new ArrayList<>();
        CommonAddresses common = new CommonAddresses(http.bind.address, grpc.bind.address);
        protocols.forEach(protocol -> endpoints.addAll(protocol.ports(common)));
        boolean anyGrpc = grpc.bind.enabled
                || endpoints.stream().anyMatch(endpoint -> endpoint.kind().transport() == Transport.GRPC);
        // Before those of protocols, and each port before its Unix socket.
        if (anyGrpc) {
            grpc.bind.unixSocket.ifPresent(path -> endpoints.addFirst(onUnixSocket(Kind.GRPC, path)));
        }
        if (grpc.bind.enabled) {
            endpoints.addFirst(Endpoint.onPort(Kind.GRPC, grpc.bind.address, grpc.bind.port));
        }
        if (metrics.enabled) {
            endpoints.addFirst(Endpoint.onPort(Kind.METRICS, metrics.address.orElse(http.bind.address), metrics.port));
        }
        if (http.bind.enabled) {
            http.bind.unixSocket.ifPresent(path -> endpoints.addFirst(onUnixSocket(Kind.HTTP, path)));
            endpoints.addFirst(Endpoint.onPort(Kind.HTTP, http.bind.address, http.bind.port));
        }
        return endpoints.stream().sorted(ORDER).map(this::secured).toList();
    }

    private static Endpoint onUnixSocket(Kind kind, Path path) {
        return new Endpoint(kind, UnixDomainSocketAddress.of(path));
    }

    /** A Unix socket is protected by its mode, and clients that could use TLS there are hardly known. */
    private Endpoint secured(Endpoint endpoint) {
        BindSettings bind = endpoint.kind().transport() == Transport.GRPC ? grpc.bind : http.bind;
        boolean tls = endpoint.kind().secured()
                && bind.tls.isPresent()
                && endpoint.port().isPresent();
        return tls ? endpoint.withTls() : endpoint;
    }

    /**
     * The address of a listener.
     *
     * @param port the port to listen on; 0 for any free one
     * @param unixSocket a Unix socket to listen on as well, never with TLS; empty for none
     * @param tls the files for TLS on the port; empty for none
     */
    public record BindSettings(
            boolean enabled, String address, int port, Optional<Path> unixSocket, Optional<TlsFiles> tls) {
        private static BindSettings everywhere(int port) {
            return new BindSettings(true, EVERY_ADDRESS, port, Optional.empty(), Optional.empty());
        }

        private BindSettings disabled() {
            return new BindSettings(false, address, port, unixSocket, tls);
        }

        private BindSettings plain() {
            return new BindSettings(enabled, address, port, unixSocket, Optional.empty());
        }
    }

    /**
     * The settings of the HTTP listener.
     *
     * @param maxInputSize the most bytes that a request may have
     * @param allowedOrigins the other origins whose pages may read responses in a browser; {@code *} for any
     */
    public record HttpSettings(
            BindSettings bind,
            long maxInputSize,
            HttpTimeouts timeouts,
            Set<String> allowedOrigins,
            boolean healthBodies) {
        private static final int PORT = 8000;
        private static final long MAX_INPUT_SIZE = 64L << 20;

        /** On port 8000, requests of up to 64 MiB. */
        public static final HttpSettings STANDARD =
                new HttpSettings(BindSettings.everywhere(PORT), MAX_INPUT_SIZE, HttpTimeouts.STANDARD, Set.of(), true);
    }

    /** The settings of the gRPC listener. */
    public record GrpcSettings(BindSettings bind, KeepaliveSettings keepalive) {
        private static final int PORT = 8001;

        /** On port 8001. */
        public static final GrpcSettings STANDARD =
                new GrpcSettings(BindSettings.everywhere(PORT), KeepaliveSettings.standard());
    }

    /**
     * The settings of the metrics listener.
     *
     * @param address the address to listen on; empty for that of HTTP
     * @param port the port to listen on; 0 for any free one
     * @param gpus whether metrics of GPUs are shown, where there are any
     */
    public record MetricsSettings(
            boolean enabled, Optional<String> address, int port, ShownMetrics shown, boolean gpus) {
        private static final int PORT = 8002;

        /** On port 8002, with GPUs. */
        public static final MetricsSettings STANDARD =
                new MetricsSettings(true, Optional.empty(), PORT, ShownMetrics.STANDARD, true);
    }
}
