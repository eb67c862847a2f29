package gatun.http.tensorflow;

import gatun.http.HttpSettings;
import gatun.http.connection.Exchange;
import gatun.http.connection.RestrictedRequests;
import gatun.http.connection.Routes;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;

/** The paths of TensorFlow Serving's protocol, all below {@code /v1/}. Safe for any thread. */
public final class TensorFlowRoutes implements Routes {
    private static final String ROOT = "/v1/";

    private final RestrictedRequests restricted;
    private final PredictRoute predict;

    /** Routes to {@code server}. */
    public TensorFlowRoutes(InferenceServer server, HttpSettings settings) {
        this.restricted = new RestrictedRequests(settings.headers().access());
        Servables servables = new Servables(server);
        RestBodies bodies = new RestBodies(server.buffers(), settings.maxInputByteSize());
        this.predict = new PredictRoute(server, servables, bodies);
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (!path.startsWith(ROOT)) {
            return false;
        }
        if (exchange.method().equals(Method.OPTIONS)) {
            answerOptions(exchange);
            return true;
        }
        try {
            String target = exchange.query().isEmpty() ? path : path + "?" + exchange.query();
            answer(exchange, target);
        } catch (GatunException e) {
            RestAnswer.fail(exchange, e);
        }
        return true;
    }

    private static void answerOptions(Exchange exchange) {
        String origin = exchange.header(HeaderNames.ORIGIN).orElse("");
        boolean page = origin.contains("http://") || origin.contains("https://");
        exchange.answerEmpty(page ? Status.OK_200 : Status.BAD_REQUEST_400);
    }

    private void answer(Exchange exchange, String target) {
        Optional<ServablePath> path = Optional.empty();
        if (exchange.method().equals(Method.POST)) {
            path = ServablePath.ofInference(target);
        }
        if (path.isEmpty()) {
            throw GatunException.invalidArgument(
                    "Malformed request: " + exchange.method().text() + " " + target);
        }
        ServablePath found = path.get();
        if (found.versionOverflows()) {
            RestAnswer.failSilently(exchange, Status.BAD_REQUEST_400);
            return;
        }
        if (!restricted.refused(exchange, ApiGroup.INFERENCE)) {
            switch (found.verb()) {
                case "predict" -> predict.answer(exchange, found);
                default ->
                    throw GatunException.invalidArgument(
                            "Malformed request: " + exchange.method().text() + " " + target);
            }
        }
    }
}
