package gatun.http.connection;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The routing of one connection: our routes first, which need the connection beneath the request, then the listener's own,
 * for services that were registered with it. For the connection's thread.
 */
final class EdgeRouting implements HttpRouting, Router {
    private static final Logger LOG = LoggerFactory.getLogger(EdgeRouting.class);

    private final ClientConnection connection;
    private final Routes routes;
    private final AllowedOrigins origins;
    private final Router listeners;
    private final HttpRouting others;

    /** Asks {@code routes} first, and the HTTP routing of {@code listeners} about what they leave. */
    EdgeRouting(ClientConnection connection, Routes routes, AllowedOrigins origins, Router listeners) {
        this.connection = connection;
        this.routes = routes;
        this.origins = origins;
        this.listeners = listeners;
        this.others = listeners.routing(HttpRouting.class, HttpRouting.empty());
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        connection.beginsRequest();
        Exchange exchange = new Exchange(connection, request, response);
        try {
            exchange.allowOrigin(origins);
            if (!routes.answer(exchange)) {
                others.route(context, request, response);
            }
        } catch (CloseConnectionException e) {
            throw e;
        } catch (GatunException e) {
            fail(exchange, e);
        } catch (RuntimeException e) {
            LOG.error("{} {} failed unexpectedly", exchange.method(), exchange.path(), e);
            fail(exchange, new GatunException(ErrorCode.INTERNAL, "internal error; the server's log has the details"));
        }
        exchange.finish();
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
}
