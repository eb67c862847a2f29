// SPDX-License-Identifier: Apache-2.0
package gatun.http.tensorflow;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.RestrictedRequests;
import gatun.http.connection.Routes;
import gatun.memory.tensor.GatunException;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderRules;
import gatun.runtime.server.InferenceServer;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The paths of TensorFlow Serving's protocol, all below {@code /v1/}. Safe for any thread. */
public final class TensorFlowRoutes implements Routes {
    private static final String ROOT = "/v1/";
    private static final ResponseHeaders UNEXPECTED_PATH =
            ResponseHeaders.of(ResponseHeaders.constant(Status.BAD_REQUEST_400, "Content-Type: text/plain"));

    private final RestrictedRequests restricted;
    private final PredictRoute predict;
    private final ExampleRoute examples;
    private final InformationRoutes information;
    private final boolean anyOrigin;

    /** TensorFlow Serving's metrics; null where nothing is counted. */
    private final @Nullable Monitoring monitoring;

    /**
     * Routes to {@code server}.
     *
     * @param maxInputByteSize the longest body of a request, in bytes
     * @param headers which requests need which headers
     */
    public TensorFlowRoutes(
            InferenceServer server, long maxInputByteSize, HeaderRules headers, TensorFlowSettings settings) {
        this.restricted = new RestrictedRequests(headers.access());
        this.anyOrigin = settings.anyOrigin();
        Servables servables = new Servables(server);
        RestBodies bodies = new RestBodies(server.buffers(), maxInputByteSize);
        this.monitoring = settings.monitoring().orElse(null);
        @Nullable ServingMetrics metrics = monitoring == null ? null : monitoring.metrics();
        ModelCalls calls = new ModelCalls(server, settings.timeout(), metrics);
        this.predict = new PredictRoute(server, servables, bodies, calls);
        this.examples = new ExampleRoute(server, servables, bodies, calls, settings.methodNames(), metrics);
        this.information = new InformationRoutes(server, servables);
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (monitoring != null && path.equals(monitoring.path())) {
            answerMetrics(exchange, monitoring);
            return true;
        }
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
        } catch (ModelTimeout e) {
            RestAnswer.fail(exchange, Status.GATEWAY_TIMEOUT_504, String.valueOf(e.getMessage()));
        }
        return true;
    }

    private static void answerMetrics(Exchange exchange, Monitoring monitoring) {
        if (exchange.query().isEmpty()) {
            exchange.header(HeaderNames.CONTENT_TYPE, "text/plain");
            exchange.answer(monitoring.metrics().page());
            return;
        }
        String text =
                "Unexpected path: " + monitoring.path() + "?" + exchange.query() + ". Should be " + monitoring.path();
        exchange.answer(UNEXPECTED_PATH, exchange.json().raw(text));
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
        Api api =
                switch (found.verb()) {
                    case "predict" -> Api.PREDICT;
                    case "classify" -> Api.CLASSIFY;
                    case "regress" -> Api.REGRESS;
                    default -> throw malformed(exchange, target);
                };
        if (monitoring == null) {
            infer(exchange, found, api);
        } else {
            inferCounted(exchange, found, api, monitoring.metrics());
        }
    }

    private void infer(Exchange exchange, ServablePath path, Api api) {
        switch (api) {
            case PREDICT -> predict.answer(exchange, path);
            case CLASSIFY -> examples.answer(exchange, path, ExampleMethod.CLASSIFY, api);
            case REGRESS -> examples.answer(exchange, path, ExampleMethod.REGRESS, api);
            case MULTI_INFERENCE -> throw new AssertionError("there is no path for it");
        }
    }

    private void inferCounted(Exchange exchange, ServablePath path, Api api, ServingMetrics metrics) {
        long arrivedNanos = System.nanoTime();
        try {
            infer(exchange, path, api);
            metrics.answered(path.model(), api, Entrypoint.REST, System.nanoTime() - arrivedNanos);
        } catch (GatunException e) {
            metrics.failed(path.model(), e.code());
            throw e;
        } catch (ModelTimeout e) {
            metrics.failed(path.model(), "DEADLINE_EXCEEDED");
            throw e;
        }
    }

    private static GatunException malformed(Exchange exchange, String target) {
        return GatunException.invalidArgument(
                "Malformed request: " + exchange.method().text() + " " + target);
    }
}
