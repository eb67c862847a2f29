package gatun.http.connection;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The routing of a listener: ours first, which needs the connection beneath the request, then Helidon's, for services that
 * were registered with it. Safe for any thread.
 */
public final class EdgeRouting implements HttpRouting {
    private static final Logger LOG = LoggerFactory.getLogger(EdgeRouting.class);

    private final Routes routes;
    private final HttpRouting others;

    /** Answers requests whose paths it knows. */
    @FunctionalInterface
    public interface Routes {
        /**
         * Answers a request, or leaves it to others.
         *
         * @return whether it was answered
         * @throws GatunException to be answered as the failure it is
         */
        boolean answer(Exchange exchange);
    }

    /** Asks {@code routes} first, and {@code others} about what they leave. */
    public EdgeRouting(Routes routes, HttpRouting others) {
        this.routes = routes;
        this.others = others;
    }

    /** Makes this routing, in the form that a listener's configuration wants. */
    public static io.helidon.common.Builder<?, EdgeRouting> builder(Routes routes, HttpRouting.Builder others) {
        return new RoutingBuilder(routes, others);
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        if (!(context instanceof ClientConnection connection)) {
            throw new IllegalStateException("the listener does not make its connections by HttpConnections");
        }
        Exchange exchange = new Exchange(connection, request, response);
        try {
            if (!routes.answer(exchange)) {
                others.route(context, request, response);
            }
        } catch (CloseConnectionException e) {
            throw e;
        } catch (GatunException e) {
            if (e.code() == ErrorCode.INTERNAL) {
                LOG.warn("{} {} failed", exchange.method(), exchange.path(), e);
            }
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
    public void beforeStart() {
        others.beforeStart();
    }

    @Override
    public void afterStart(WebServer server) {
        others.afterStart(server);
    }

    @Override
    public void afterStop() {
        others.afterStop();
    }

    private record RoutingBuilder(Routes routes, HttpRouting.Builder others)
            implements io.helidon.common.Builder<RoutingBuilder, EdgeRouting> {
        @Override
        public EdgeRouting build() {
            return new EdgeRouting(routes, others.build());
        }
    }
}
