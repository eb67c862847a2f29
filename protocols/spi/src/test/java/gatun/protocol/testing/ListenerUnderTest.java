// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.testing;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.HttpListener;
import gatun.http.connection.Routes;
import gatun.http.metrics.MetricsRoutes;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.listener.ServerTls;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.testing.TestServer.ProtocolMaker;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.server.ServerOptions;
import gatun.runtime.tracing.TraceFile;
import gatun.runtime.tracing.TraceSettings;
import gatun.runtime.tracing.Tracing;
import gatun.spi.Setting;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.HttpService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The listener on a real port, in front of the real runtime with models of the identity backend. */
public final class ListenerUnderTest implements AutoCloseable {
    /** How long anything may take before a test fails. */
    public static final Duration DEADLINE = Duration.ofSeconds(10);

    private static final long POOL_BYTES = 64L << 20;

    private final BufferPool buffers = new BufferPool(POOL_BYTES, Setting.BUFFER_POOL_BYTE_SIZE.toString());
    private final RegionRegistry regions = SharedRegions.open(buffers);
    private final GatunServer server;
    private final WebServer web;
    private final WebServer metrics;
    private final HttpClient client = HttpClient.newBuilder()
            .connectTimeout(DEADLINE)
            .version(HttpClient.Version.HTTP_1_1)
            .build();

    private ListenerUnderTest(
            Path repository,
            TestServerSettings settings,
            Optional<ServerTls> tls,
            List<ProtocolMaker> protocols,
            HttpService... services) {
        this.server = GatunServer.open(ServerOptions.of(buffers, regions)
                .repository(repository)
                .version("1.2.3")
                .log(new RememberedLog())
                .tracing(new Tracing(TraceSettings.off(), TraceFile.to(traceFile(repository)))));
        HttpListener edge = new HttpListener(buffers, settings.http());
        List<Routes> routes = protocols.stream()
                .map(protocol -> protocol.create(server, settings.protocol()).http())
                .toList();
        this.web = start(builder -> tls.ifPresentOrElse(
                files -> edge.configure(builder, files, routes, services),
                () -> edge.configure(builder, routes, services)));
        Routes page = new MetricsRoutes(
                server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD));
        this.metrics = start(builder -> edge.configure(builder, List.of(page)));
    }

    /** Starts with the models of {@code repository}, to which {@link #writeModel} writes. */
    public static ListenerUnderTest start(
            Path repository, TestServerSettings settings, List<ProtocolMaker> protocols, HttpService... services) {
        return new ListenerUnderTest(repository, settings, Optional.empty(), protocols, services);
    }

    /** Starts over TLS. */
    public static ListenerUnderTest startOver(
            ServerTls tls, Path repository, TestServerSettings settings, List<ProtocolMaker> protocols) {
        return new ListenerUnderTest(repository, settings, Optional.of(tls), protocols);
    }

    private static WebServer start(Consumer<WebServerConfig.Builder> speak) {
        return WebServer.builder()
                .bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .shutdownHook(false)
                .shutdownGracePeriod(Duration.ofSeconds(2))
                .update(speak)
                .build()
                .start();
    }

    /**
     * Writes the configuration of a model that answers with its inputs, {@code IN0}, {@code IN1} and so on, as
     * {@code OUT0}, {@code OUT1} and so on.
     *
     * @param tensors type and dims of each, such as {@code TYPE_INT32 [ 16 ]}
     */
    public static void writeModel(Path repository, String name, int maxBatchSize, String... tensors) {
        StringBuilder config = new StringBuilder(
                "name: \"" + name + "\"\nbackend: \"identity\"\nmax_batch_size: " + maxBatchSize + "\n");
        for (String side : new String[] {"input IN", "output OUT"}) {
            String[] words = side.split(" ", 2);
            for (int i = 0; i < tensors.length; i++) {
                String[] typeAndDims = tensors[i].split(" ", 2);
                config.append(words[0]).append(" { name: \"").append(words[1]).append(i);
                config.append("\" data_type: ").append(typeAndDims[0]);
                config.append(" dims: ").append(typeAndDims[1]).append(" }\n");
            }
        }
        try {
            Files.createDirectories(repository.resolve(name).resolve("1"));
            Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where the traces of a server with this repository go. */
    public static Path traceFile(Path repository) {
        return repository.resolve("trace.json");
    }

    /** Announces the stop, as a server does before it stops its listeners. */
    public void announceStop() {
        server.announceStop();
    }

    /** The port for clients. */
    public int port() {
        return web.port();
    }

    /** The port for metrics. */
    public int metricsPort() {
        return metrics.port();
    }

    /** The pool that requests and responses lie in. */
    public BufferPool buffers() {
        return buffers;
    }

    /** The server behind the listener. */
    public InferenceServer server() {
        return server;
    }

    /** The registered shared memory. */
    public RegionRegistry regions() {
        return regions;
    }

    /** Sends GET. */
    public HttpResponse<String> get(String path) {
        return send(request(path).GET().build());
    }

    /** Sends POST with JSON, or nothing. */
    public HttpResponse<String> post(String path, String json) {
        return send(request(path)
                .POST(HttpRequest.BodyPublishers.ofString(json, StandardCharsets.UTF_8))
                .build());
    }

    /** A request to {@code path} of the port for clients. */
    public HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port() + path))
                .timeout(DEADLINE);
    }

    /** Sends a request and reads its response as text. */
    public HttpResponse<String> send(HttpRequest request) {
        return send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    /** Sends a request and reads its response. */
    public <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
        try {
            return client.send(request, handler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** Waits until no buffer is lent, and fails when that does not come. */
    public void awaitNothingLent() {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (buffers.usedBytes() != 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(buffers.usedBytes()).as("bytes still lent").isZero();
    }

    @Override
    public void close() {
        client.close();
        web.stop();
        metrics.stop();
        server.close();
        regions.close();
        buffers.close();
    }
}
