// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import gatun.http.connection.AllowedOrigins;
import gatun.http.connection.HttpConnections;
import gatun.http.connection.HttpConnections.ConnectionResources;
import gatun.http.connection.RefusedRequests;
import gatun.http.connection.Routes;
import gatun.http.connection.StopNotice;
import gatun.listener.ConnectionUse;
import gatun.listener.ServerTls;
import gatun.memory.buffers.BufferPool;
import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpService;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** Sets Helidon listeners up for HTTP with their routes. The caller starts and stops them. Thread-safe. */
public final class HttpListener {
    /** At least this often, connections are checked whose clients should send or take something. */
    private static final Duration IDLE_CHECK_PERIOD = Duration.ofSeconds(15);

    /** Turns Helidon's limit of a body off: readers of bodies have their own, answered while the client sends. */
    private static final long NO_LIMIT = -1;

    private final BufferPool buffers;
    private final HttpSettings settings;
    private final WorkBudgets budgets;
    private final AccessLog accessLog;
    private final RunPlacement placement;
    private final StopNotice stop = new StopNotice();
    private final List<HttpConnections> configured = new CopyOnWriteArrayList<>();

    /** The HTTP side of a server; when {@code buffers} run short, connections of slow readers end. */
    public HttpListener(BufferPool buffers, HttpSettings settings) {
        this(buffers, settings, new WorkBudgets(System::nanoTime), AccessLog.OFF, RunPlacement.of(true));
    }

    /** The same with limits for work that clients throw away, and a line for each request in {@code accessLog}. */
    public HttpListener(
            BufferPool buffers,
            HttpSettings settings,
            WorkBudgets budgets,
            AccessLog accessLog,
            RunPlacement placement) {
        this.buffers = buffers;
        this.settings = settings;
        this.budgets = budgets;
        this.accessLog = accessLog;
        this.placement = placement;
    }

    /** Loads what listeners are made of, which the first of them does otherwise. For any thread. */
    public static void prepare() {
        WebServerConfig.Builder none = WebServerConfig.builder();
        setUp(
                none,
                new HttpConnections(
                        new ConnectionResources(
                                exchange -> false,
                                AllowedOrigins.none(),
                                HostNames.any(),
                                new WorkBudgets(System::nanoTime),
                                new StopNotice(),
                                AccessLog.OFF,
                                RunPlacement.of(false)),
                        Optional.empty(),
                        0));
        none.buildPrototype();
    }

    /** Loads what connections are made of, which the first of them does otherwise. For any thread. */
    public static void prepareConnections() {
        HttpConnections.prepareFirst();
    }

    /** Sets up a listener without TLS: the first of {@code routes} that knows a path answers, else {@code services}. */
    public void configure(ListenerConfig.BuilderBase<?, ?> listener, List<Routes> routes, HttpService... services) {
        configure(listener, Optional.empty(), routes, services);
    }

    /** The same over TLS, on a listener that knows nothing of TLS itself. */
    public void configure(
            ListenerConfig.BuilderBase<?, ?> listener, ServerTls tls, List<Routes> routes, HttpService... services) {
        configure(listener, Optional.of(tls), routes, services);
    }

    /** From now on responses tell clients that their connections end. New connections and requests are still served. */
    public void drain() {
        stop.drain();
    }

    /** Ends connections that have no request to answer. Call once no new ones are wanted, before listeners stop. */
    public void end() {
        stop.end();
    }

    /** Makes the current response the last of its connection. Call a moment before requests are refused. */
    public void cutPipelines() {
        stop.cutPipelines();
    }

    /** How many of the open connections only look at the server. */
    public int viewerCount() {
        return (int) configured.stream().mapToLong(HttpConnections::viewerCount).sum();
    }

    /** At most {@code limit} of clients' connections that are open, as they are used now, in no order. */
    public List<ConnectionUse> connections(int limit) {
        return configured.stream().flatMap(HttpConnections::uses).limit(limit).toList();
    }

    private Duration checkPeriod() {
        Duration half = settings.timeouts().idleTimeout().dividedBy(2);
        return half.compareTo(IDLE_CHECK_PERIOD) < 0 ? half : IDLE_CHECK_PERIOD;
    }

    private void configure(
            ListenerConfig.BuilderBase<?, ?> listener,
            Optional<ServerTls> tls,
            List<Routes> routes,
            HttpService... services) {
        ConnectionResources resources = new ConnectionResources(
                anyOf(routes),
                new AllowedOrigins(settings.allowedOrigins()),
                settings.hosts(),
                budgets,
                stop,
                accessLog,
                placement);
        HttpConnections connections =
                new HttpConnections(resources, tls, settings.timeouts().bodyByteRate());
        configured.add(connections);
        buffers.onShortage(connections::endSlowReaders);
        setUp(listener, connections, services)
                .idleConnectionTimeout(settings.timeouts().idleTimeout())
                .idleConnectionPeriod(checkPeriod());
    }

    private static ListenerConfig.BuilderBase<?, ?> setUp(
            ListenerConfig.BuilderBase<?, ?> listener, HttpConnections connections, HttpService... services) {
        return listener.useNio(true)
                .connectionOptions(connections.socketOptions())
                .protocolsDiscoverServices(false)
                .addConnectionSelector(connections)
                .contentEncoding(ContentEncodingContext.builder()
                        .contentEncodingsDiscoverServices(false)
                        .build())
                .directHandlers(RefusedRequests.handlers())
                .maxPayloadSize(NO_LIMIT)
                .routing(HttpRouting.builder().register(services));
    }

    /** Routes that know a path answer it; an unknown path, those with the longest root that it begins with. */
    private static Routes anyOf(List<Routes> routes) {
        Routes[] all = routes.toArray(Routes[]::new);
        Routes[] byRoot = routes.stream()
                .sorted(Comparator.comparingInt((Routes one) -> -one.root().length()))
                .toArray(Routes[]::new);
        return exchange -> {
            for (Routes one : all) {
                if (one.answer(exchange)) {
                    return true;
                }
            }
            for (Routes one : byRoot) {
                if (one.answerUnknownPath(exchange)) {
                    return true;
                }
            }
            return false;
        };
    }
}
