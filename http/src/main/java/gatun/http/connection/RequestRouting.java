// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.AllowedOrigins.HostCheck;
import gatun.http.connection.HttpConnections.ConnectionResources;
import gatun.http.connection.IncomingRequest.FastPathRequest;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.spi.Setting;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection's routing: our routes first, then the listener's own. For the connection's thread. */
final class RequestRouting implements HttpRouting, FastPathReader.Handler {
    private static final Logger LOG = LoggerFactory.getLogger(RequestRouting.class);
    private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");

    private static final String MISLED = "a page may not ask this server by a name that is none of the server's own;"
            + " start the server with " + Setting.ALLOW_HOST + " for one more name, or with "
            + Setting.HTTP_CORS_ALLOW_ORIGIN + " to let pages of that origin in";

    private final ClientConnection connection;
    private final Routes routes;
    private final AllowedOrigins origins;
    private final HostCheck hosts;
    private final AccessLog accessLog;
    private final Router listeners;
    private final HttpRouting others;
    private final Exchange.Kept kept = new Exchange.Kept();

    /** Asks the routes of {@code resources} first, then the HTTP routing of {@code listeners}. */
    RequestRouting(ClientConnection connection, ConnectionResources resources, Router listeners) {
        this.connection = connection;
        this.routes = resources.routes();
        this.origins = resources.origins();
        this.hosts = new HostCheck(resources.hosts(), connection.remotePeer().address(), connection.location());
        this.accessLog = resources.accessLog();
        this.listeners = listeners;
        this.others = listeners.routing(HttpRouting.class, HttpRouting.empty());
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        connection.beginHelidonRequest();
        HelidonRequest incoming = new HelidonRequest(request, connection.bytes());
        Exchange exchange = new Exchange(connection, incoming, hosts, kept);
        AccessEntry entry = begin(exchange);
        int otherStatus = 0;
        try {
            if (!answer(exchange)) {
                if (exchange.closes()) {
                    response.header(HeaderValues.CONNECTION_CLOSE);
                }
                others.route(context, request, response);
                otherStatus = response.status().code();
            }
        } finally {
            end(entry, exchange, otherStatus == 0 ? connection.response().status() : otherStatus);
        }
        exchange.finish();
        incoming.skipBody();
        connection.endRequest();
    }

    @Override
    public boolean answer(FastPathRequest request) {
        Exchange exchange = new Exchange(connection, request, hosts, kept);
        AccessEntry entry = begin(exchange);
        boolean answered = true;
        try {
            answered = answer(exchange);
        } finally {
            if (answered) {
                end(entry, exchange, connection.response().status());
            } else if (entry != null) {
                AccessEntry.unbind(); // an entry is begun anew where it is answered
            }
        }
        if (!answered) {
            return false;
        }
        exchange.finish();
        return true;
    }

    /** The entry of a request in the access log, bound to this thread; null where there is no such log. */
    private @Nullable AccessEntry begin(Exchange exchange) {
        if (!accessLog.isOn()) {
            return null;
        }
        AccessEntry entry = AccessEntry.begin(
                accessLog,
                "http",
                connection.remotePeer().address(),
                exchange.method().text() + " " + exchange.path());
        exchange.header(TRACEPARENT).ifPresent(entry::traceParent);
        entry.bind();
        return entry;
    }

    private void end(@Nullable AccessEntry entry, Exchange exchange, int status) {
        if (entry != null) {
            AccessEntry.unbind();
            entry.byteSizes(
                    exchange.body().receivedByteSize(), connection.response().bodyByteSize());
            entry.end(status == 0 ? "" : Integer.toString(status));
        }
    }

    @Override
    public CloseConnectionException refuse(RequestHeadParser.RefusedHead refusal) {
        Exchange exchange = new Exchange(connection, new MalformedRequest(), hosts, kept);
        AccessEntry entry = begin(exchange);
        connection.beginRequest();
        String text = String.valueOf(refusal.getMessage());
        try {
            exchange.answerFailure(refusal.status(), text);
        } finally {
            end(entry, exchange, connection.response().status());
        }
        try {
            exchange.finish();
        } catch (CloseConnectionException e) {
            boolean forNow = refusal.status().family() == Status.Family.SERVER_ERROR;
            throw forNow ? e : new ClientErrorException(ClientError.MALFORMED, text, e);
        }
        return new CloseConnectionException("the head of a request is refused");
    }

    private boolean answer(Exchange exchange) {
        connection.beginRequest();
        try {
            if (hosts.refused(exchange)) {
                return true;
            }
            exchange.allowOrigin(origins);
            if (hosts.checksOrigins() && exchange.isOfMisledBrowser()) {
                exchange.answerFailure(Status.FORBIDDEN_403, MISLED);
                return true;
            }
            return routes.answer(exchange);
        } catch (CloseConnectionException e) {
            throw e;
        } catch (GatunException e) {
            fail(exchange, e);
        } catch (RuntimeException e) {
            LOG.error("{} {} failed unexpectedly", exchange.method(), exchange.path(), e);
            fail(exchange, new GatunException(ErrorCode.INTERNAL, "internal error; the server's log has the details"));
        }
        return true;
    }

    private static void fail(Exchange exchange, GatunException failure) {
        if (exchange.answered()) {
            throw new CloseConnectionException("the answer had been begun when it failed", failure);
        }
        exchange.answerFailure(failure);
    }

    @Override
    public HttpSecurity security() {
        return others.security();
    }

    @Override
    public <T extends Routing> T routing(Class<T> routingType, T defaultValue) {
        return routingType == HttpRouting.class ? routingType.cast(this) : listeners.routing(routingType, defaultValue);
    }

    @Override
    public List<? extends Routing> routings() {
        return listeners.routings();
    }

    // The listener starts and stops its own routing; a connection's lives and ends with it.

    @Override
    public void beforeStart() {}

    @Override
    public void afterStart(WebServer server) {}

    @Override
    public void afterStop() {}

    /** A request whose head is refused: nothing is known of it except that its connection ends. */
    static final class MalformedRequest implements IncomingRequest {
        @Override
        public Method method() {
            return Method.GET;
        }

        @Override
        public String path() {
            return "";
        }

        @Override
        public String query() {
            return "";
        }

        @Override
        public Optional<String> first(HeaderName name) {
            return Optional.empty();
        }

        @Override
        public boolean has(HeaderName name) {
            return false;
        }

        @Override
        public void eachHeader(BiConsumer<String, String> reader) {
            // None is known.
        }

        @Override
        public boolean closes() {
            return true;
        }

        @Override
        public long announcedByteSize() {
            return 0;
        }

        @Override
        public void beginBody() {
            // Where it would begin is not known.
        }

        @Override
        public void endBody() {
            // Where it would end is not known.
        }

        /** Something may still come: the client is to hear the response before the connection ends. */
        @Override
        public boolean bodyConsumed() {
            return false;
        }
    }

    /** A request whose head Helidon has read. */
    static final class HelidonRequest implements IncomingRequest {
        private static final String BEFORE_SERVER = "://";

        private final ServerRequest request;
        private final HelidonDataReader bytes;
        private final long announcedByteSize;

        /** The stream that Helidon would have the body read from; empty before {@link #beginBody}. */
        private InputStream body = InputStream.nullInputStream();

        HelidonRequest(ServerRequest request, HelidonDataReader bytes) {
            this.request = request;
            this.bytes = bytes;
            this.announcedByteSize = request.headers().contains(HeaderNames.TRANSFER_ENCODING)
                    ? RequestBody.IN_CHUNKS
                    : request.headers().contentLength().orElse(0);
        }

        @Override
        public Method method() {
            return request.prologue().method();
        }

        @Override
        public String path() {
            String path = request.prologue().uriPath().rawPath();
            int slash = serverEnd(path, serverBegin(path));
            return slash == path.length() ? path : path.substring(slash);
        }

        @Override
        public Optional<String> host() {
            Optional<String> header = first(HeaderNames.HOST);
            String path = request.prologue().uriPath().rawPath();
            int server = serverBegin(path);
            return header.isPresent() || server == 0
                    ? header
                    : Optional.of(path.substring(server, serverEnd(path, server)));
        }

        /** Where the server begins in an absolute URI, as proxies receive it; 0 in a path. */
        private static int serverBegin(String uri) {
            int server = uri.startsWith("/") ? -1 : uri.indexOf(BEFORE_SERVER);
            return server < 0 ? 0 : server + BEFORE_SERVER.length();
        }

        private static int serverEnd(String uri, int begin) {
            int slash = uri.indexOf('/', begin);
            return slash < 0 ? uri.length() : slash;
        }

        @Override
        public String query() {
            return request.prologue().query().rawValue();
        }

        @Override
        public Optional<String> first(HeaderName name) {
            return request.headers().first(name);
        }

        @Override
        public boolean has(HeaderName name) {
            return request.headers().contains(name);
        }

        @Override
        public void eachHeader(BiConsumer<String, String> reader) {
            for (Header header : request.headers()) {
                reader.accept(header.name(), header.get());
            }
        }

        @Override
        public boolean closes() {
            return has(HeaderNames.CONNECTION) && request.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
        }

        @Override
        public long announcedByteSize() {
            return announcedByteSize;
        }

        @Override
        public void beginBody() {
            body = request.content().inputStream();
        }

        @Override
        public void endBody() {
            if (announcedByteSize == RequestBody.IN_CHUNKS) {
                bytes.tookChunkedBody();
            } else {
                bytes.tookAnnouncedBody();
            }
            try {
                // Makes Helidon find the end of the body, which bypassed it.
                if (body.read() >= 0) {
                    throw new IllegalStateException("a body was read twice");
                }
            } catch (IOException e) {
                throw new ServerConnectionException("reading nothing", e);
            }
        }

        void skipBody() {
            if (!bodyConsumed()) {
                request.content().consume();
            }
        }

        @Override
        public boolean bodyConsumed() {
            return announcedByteSize == 0 || request.content().consumed();
        }
    }
}
