// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import gatun.http.connection.AllowedOrigins;
import gatun.http.connection.HttpConnections;
import gatun.http.connection.RefusedRequests;
import gatun.http.connection.Routes;
import gatun.http.connection.StopNotice;
import gatun.http.metrics.GpuUse;
import gatun.http.metrics.MetricsRoutes;
import gatun.http.tensorflow.TensorFlowRoutes;
import gatun.http.v1.V1Routes;
import gatun.http.v2.V2Routes;
import gatun.listener.OpenConnections;
import gatun.listener.ServerTls;
import gatun.runtime.server.InferenceServer;
import gatun.v1.V1Api;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpService;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Sets up Helidon listeners to speak HTTP: one kind for clients, one for those of TensorFlow Serving alone, one for those
 * who scrape metrics. The caller chooses the
 * addresses, TCP or Unix sockets, and starts and stops the listeners; each is set up by a call of its own. Safe for any
 * thread.
 */
public final class HttpEdge {
    /** At least so often connections are looked at whose clients should send or take something. */
    private static final Duration IDLE_CHECK_PERIOD = Duration.ofSeconds(15);

    /** Whoever reads a body limits it, and answers a client that still sends so that it hears the answer. */
    private static final long NO_LIMIT = -1;

    private final InferenceServer server;
    private final V1Api v1;
    private final HttpSettings settings;
    private final StopNotice stop = new StopNotice();

    /** An edge in front of {@code server}. */
    public HttpEdge(InferenceServer server, HttpSettings settings) {
        this(server, new V1Api(server, settings.clientSharedMemory()), settings);
    }

    /** The same, with the legacy API that {@code v1} is, and that a gRPC edge may share. */
    public HttpEdge(InferenceServer server, V1Api v1, HttpSettings settings) {
        this.server = server;
        this.v1 = v1;
        this.settings = settings;
    }

    /**
     * Sets up a listener for clients.
     *
     * @param listener the listener's configuration, without TLS
     * @param services what else it is to serve, on paths that begin with none of {@code /v2}, {@code /v1/} and {@code /api/}
     */
    public void configure(ListenerConfig.BuilderBase<?, ?> listener, HttpService... services) {
        configure(listener, Optional.empty(), services);
    }

    /** The same over TLS, on a listener that knows nothing of TLS itself. */
    public void configure(ListenerConfig.BuilderBase<?, ?> listener, ServerTls tls, HttpService... services) {
        configure(listener, Optional.of(tls), services);
    }

    private void configure(
            ListenerConfig.BuilderBase<?, ?> listener, Optional<ServerTls> tls, HttpService... services) {
        HttpRouting.Builder others = HttpRouting.builder().register(services);
        Routes v2 =
                new V2Routes(server, settings.maxInputByteSize(), settings.clientSharedMemory(), settings.headers());
        Routes tensorFlow = tensorFlowRoutes();
        Routes legacy = new V1Routes(server, v1, settings.headers().access());
        speak(
                listener,
                exchange -> v2.answer(exchange) || tensorFlow.answer(exchange) || legacy.answer(exchange),
                others,
                tls);
    }

    /** Sets up a listener for clients of TensorFlow Serving's protocol alone. */
    public void configureTensorFlow(ListenerConfig.BuilderBase<?, ?> listener) {
        speak(listener, tensorFlowRoutes(), HttpRouting.builder(), Optional.empty());
    }

    /**
     * Sets up a listener for metrics.
     *
     * @param gpus tells how busy GPUs are, each time that it is asked; by any thread
     * @param open counts the connections of clients
     */
    public void configureMetrics(
            ListenerConfig.BuilderBase<?, ?> listener, Supplier<List<GpuUse>> gpus, OpenConnections open) {
        speak(
                listener,
                new MetricsRoutes(server, settings.metrics(), gpus, open),
                HttpRouting.builder(),
                Optional.empty());
    }

    /** From now on responses tell clients that their connections end. New connections and requests are still served. */
    public void drain() {
        stop.drain();
    }

    /** From now on connections without a request to answer end. To be called when no new connections are wanted, before the listeners stop. */
    public void end() {
        stop.end();
    }

    /** From now on the response at hand is the last of its connection. To be called a moment before requests are refused. */
    public void cutPipelines() {
        stop.cutPipelines();
    }

    private Routes tensorFlowRoutes() {
        return new TensorFlowRoutes(server, settings.maxInputByteSize(), settings.headers(), settings.tensorFlow());
    }

    private Duration checkPeriod() {
        Duration half = settings.patience().idleTimeout().dividedBy(2);
        return half.compareTo(IDLE_CHECK_PERIOD) < 0 ? half : IDLE_CHECK_PERIOD;
    }

    private void speak(
            ListenerConfig.BuilderBase<?, ?> listener,
            Routes routes,
            HttpRouting.Builder others,
            Optional<ServerTls> tls) {
        HttpConnections connections = new HttpConnections(
                routes,
                new AllowedOrigins(settings.allowedOrigins()),
                tls,
                stop,
                settings.patience().bodyByteRate());
        server.buffers().onShortage(connections::endSlowReaders);
        listener.useNio(true)
                .connectionOptions(connections.socketOptions())
                .protocolsDiscoverServices(false)
                .addConnectionSelector(connections)
                .contentEncoding(ContentEncodingContext.builder()
                        .contentEncodingsDiscoverServices(false)
                        .build())
                .directHandlers(RefusedRequests.handlers())
                .maxPayloadSize(NO_LIMIT)
                .idleConnectionTimeout(settings.patience().idleTimeout())
                .idleConnectionPeriod(checkPeriod())
                .routing(others);
    }
}
