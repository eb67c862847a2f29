// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.grpc.GrpcListener;
import gatun.http.HttpListener;
import gatun.listener.ConnectionUse;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.OpenConnections.WireProtocol;
import gatun.listener.PemFile;
import gatun.listener.TlsFiles;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.ServerSurroundings;
import gatun.stores.mirror.FetchWatch;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** What the console tells of the server's listeners, lanes and certificates. Safe for any thread. */
final class ServerInfo implements ServerSurroundings {
    private static final long CERTIFICATE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final HttpListener http;
    private final Supplier<Optional<GrpcListener>> grpc;
    private final Supplier<List<Lane>> lanes;
    private final List<OpenConnections> open;
    private final List<TlsFiles> files;
    private final FetchWatch fetches;
    private final Supplier<List<Endpoint>> endpoints;

    /** {@code readNanos} is the {@link System#nanoTime} at which the certificates were read. */
    private record Read(List<Certificate> certificates, long readNanos) {}

    private volatile Read read = new Read(List.of(), System.nanoTime() - CERTIFICATE_NANOS);

    ServerInfo(
            HttpListener http,
            Supplier<Optional<GrpcListener>> grpc,
            Supplier<List<Lane>> lanes,
            List<OpenConnections> open,
            List<TlsFiles> files,
            FetchWatch fetches,
            Supplier<List<Endpoint>> endpoints) {
        this.fetches = fetches;
        this.endpoints = endpoints;
        this.http = http;
        this.grpc = grpc;
        this.lanes = lanes;
        this.open = List.copyOf(open);
        this.files = List.copyOf(files);
    }

    @Override
    public OptionalInt httpPort() {
        return port(kind -> kind.equals(Kind.HTTP));
    }

    @Override
    public OptionalInt grpcPort() {
        return port(kind -> kind.transport() == Transport.GRPC);
    }

    private OptionalInt port(Predicate<Kind> looked) {
        return endpoints.get().stream()
                .filter(endpoint -> looked.test(endpoint.kind()))
                .flatMapToInt(endpoint -> endpoint.port().stream())
                .findFirst();
    }

    @Override
    public Connections connections() {
        int overHttp = 0;
        int overGrpc = 0;
        long refused = 0;
        for (OpenConnections one : open) {
            overHttp += one.open(WireProtocol.HTTP) + one.open(WireProtocol.HTTPS);
            overGrpc += one.open(WireProtocol.GRPC) + one.open(WireProtocol.GRPCS);
            for (ConnectionRefusal refusal : ConnectionRefusal.values()) {
                refused += one.refused(refusal);
            }
        }
        // One that closes at this moment may be counted by the listener no more.
        return new Connections(Math.max(0, overHttp - http.viewerCount()), overGrpc, refused);
    }

    @Override
    public ConnectionList connections(int limit) {
        List<ConnectionUse> overHttp = http.connections(limit);
        // Neither protocol is to hide the other.
        List<ConnectionUse> overGrpc = grpc.get()
                .map(listener -> listener.connections(Math.max(limit - overHttp.size(), limit / 2)))
                .orElse(List.of());
        List<Connection> shown = Stream.concat(
                        overHttp.stream().limit(limit - overGrpc.size()).map(use -> shown("http", use)),
                        overGrpc.stream().map(use -> shown("grpc", use)))
                .toList();
        Connections numbers = connections();
        return new ConnectionList(shown, numbers.http() + numbers.grpc());
    }

    private static Connection shown(String protocol, ConnectionUse use) {
        Traffic traffic = new Traffic(use.requests(), use.inFlight(), use.bytesIn(), use.bytesOut());
        return new Connection(protocol, use.peer(), use.tls(), use.sinceMillis(), traffic);
    }

    @Override
    public List<Lane> lanes() {
        return lanes.get();
    }

    @Override
    public List<Fetch> fetches() {
        return fetches.running().stream()
                .map(state -> new Fetch(state.models(), state.bytes(), state.totalBytes(), state.beganMillis()))
                .toList();
    }

    @Override
    public List<Certificate> certificates() {
        if (!files.isEmpty() && System.nanoTime() - read.readNanos() >= CERTIFICATE_NANOS) {
            read = new Read(readCertificates(), System.nanoTime());
        }
        return read.certificates();
    }

    private List<Certificate> readCertificates() {
        return files.stream()
                .flatMap(one -> certificate(one.certificate()).stream())
                .toList();
    }

    /** The first certificate of a file, which is the server's own; empty when it cannot be read, as the log then says. */
    private static Optional<Certificate> certificate(PemFile file) {
        try (InputStream pem = Files.newInputStream(file.path())) {
            return CertificateFactory.getInstance("X.509").generateCertificate(pem) instanceof X509Certificate found
                    ? Optional.of(new Certificate(
                            file.path().toString(), found.getNotAfter().toInstant()))
                    : Optional.empty();
        } catch (IOException | CertificateException e) {
            return Optional.empty();
        }
    }
}
