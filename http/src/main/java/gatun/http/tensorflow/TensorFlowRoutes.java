package gatun.http.tensorflow;

import gatun.http.HttpSettings;
import gatun.http.connection.Exchange;
import gatun.http.connection.RestrictedRequests;
import gatun.http.connection.Routes;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.access.ApiGroup;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.Servables;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;

/** The paths of TensorFlow Serving's protocol, all below {@code /v1/}. Safe for any thread. */
public final class TensorFlowRoutes implements Routes {
    private static final String ROOT = "/v1/";

    private final RestrictedRequests restricted;
    private final PredictRoute predict;
    private final ExampleRoute examples;
    private final InformationRoutes information;
    private final boolean anyOrigin;

    /** Routes to {@code server}. */
    public TensorFlowRoutes(InferenceServer server, HttpSettings settings) {
        this.restricted = new RestrictedRequests(settings.headers().access());
        this.anyOrigin = settings.tensorFlow().anyOrigin();
        Servables servables = new Servables(server);
        RestBodies bodies = new RestBodies(server.buffers(), settings.maxInputByteSize());
        ModelCalls calls = new ModelCalls(server, settings.tensorFlow().timeout());
        this.predict = new PredictRoute(server, servables, bodies, calls);
        this.examples = new ExampleRoute(server, servables, bodies, calls);
        this.information = new InformationRoutes(server, servables);
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (!path.startsWith(ROOT)) {
            return false;
        }
        if (anyOrigin) {
            exchange.header(HeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, "*");
            exchange.header(HeaderNames.ACCESS_CONTROL_ALLOW_METHODS, "POST, GET");
            exchange.header(HeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type");
        }
        if (exchange.method().equals(Method.OPTIONS)) {
            answerOptions(exchange);
            return true;
        }
        try {
            answer(exchange, exchange.query().isEmpty() ? path : path + "?" + exchange.query());
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
        } else if (exchange.method().equals(Method.GET)) {
            path = ServablePath.ofInformation(target);
        }
        ServablePath found = path.orElseThrow(() -> malformed(exchange, target));
        if (found.versionOverflows()) {
            RestAnswer.failSilently(exchange, Status.BAD_REQUEST_400);
            return;
        }
        ApiGroup group = exchange.method().equals(Method.POST) ? ApiGroup.INFERENCE : ApiGroup.METADATA;
        if (restricted.refused(exchange, group)) {
            return;
        }
        if (found.model().isEmpty()) {
            throw GatunException.invalidArgument("Missing model name in request.");
        }
        if (group == ApiGroup.METADATA) {
            if (found.verb().isEmpty()) {
                information.status(exchange, found);
            } else {
                information.metadata(exchange, found);
            }
            return;
        }
        // The path is found whatever its case is, and what is to be done is not.
        switch (found.verb()) {
            case "predict" -> predict.answer(exchange, found);
            case "classify" -> examples.answer(exchange, found, ExampleMethod.CLASSIFY);
            case "regress" -> examples.answer(exchange, found, ExampleMethod.REGRESS);
            default -> throw malformed(exchange, target);
        }
    }

    private static GatunException malformed(Exchange exchange, String target) {
        return GatunException.invalidArgument(
                "Malformed request: " + exchange.method().text() + " " + target);
    }
}
