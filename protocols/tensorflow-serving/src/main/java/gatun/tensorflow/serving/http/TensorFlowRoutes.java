// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static gatun.http.routes.RouteTable.Route.get;
import static gatun.http.routes.RouteTable.Route.post;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.Routes;
import gatun.http.routes.PathValues.RouteConventions;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import gatun.spi.EntryPoint;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.Servables;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.TensorFlowSettings.Monitoring;
import gatun.tensorflow.serving.http.ModelCalls.ModelTimeout;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The paths of TensorFlow Serving's protocol below {@code /v1/}, and their access for pages of other servers; and
 * the path {@code /}, where KServe's clients of this protocol ask whether the server is live. Safe for any thread.
 */
public final class TensorFlowRoutes implements Routes {
    private static final String ROOT = "/v1/";
    private static final String LIVENESS = "/";
    private static final String MODEL = "/v1/models/{model:word}";
    private static final String VERSION = "[/versions/{version:number}|/labels/{label:word}]";
    private static final ResponseHeaders UNEXPECTED_PATH =
            ResponseHeaders.of(ResponseHeaders.constant(Status.BAD_REQUEST_400, "Content-Type: text/plain"));
    private static final ResponseHeaders ALIVE =
            ResponseHeaders.of(ResponseHeaders.constant("Content-Type: application/json"));

    private final RouteTable table;
    private final RouteTable liveness;
    private final PredictRoute predict;
    private final ExampleRoute examples;
    private final boolean anyOrigin;

    /** TensorFlow Serving's metrics; null where nothing is counted. */
    private final @Nullable Monitoring monitoring;

    /** Routes to {@code server}; {@code maxInputByteSize} limits the body of a request. */
    public TensorFlowRoutes(
            InferenceServer server, long maxInputByteSize, HeaderRules headers, TensorFlowSettings settings) {
        this.anyOrigin = settings.anyOrigin();
        Servables servables = new Servables(server);
        RestBodies bodies = new RestBodies(server.buffers(), maxInputByteSize);
        this.monitoring = settings.monitoring().orElse(null);
        @Nullable ServingMetrics metrics = monitoring == null ? null : monitoring.metrics();
        ModelCalls calls = new ModelCalls(server, settings.timeout(), metrics);
        this.predict = new PredictRoute(server, servables, bodies, calls);
        this.examples = new ExampleRoute(server, servables, bodies, calls, settings.methodNames(), metrics);
        InformationRoutes information = new InformationRoutes(server, servables);
        Route live = get(
                LIVENESS,
                ApiGroup.HEALTH,
                "Whether the server is live",
                TensorFlowOperations.LIVE,
                (exchange, path) -> live(exchange, server));
        this.liveness = new RouteTable(LIVENESS, List.of(live), headers.access(), StandardConventions.INSTANCE);
        List<Route> rows = List.of(
                post(
                        MODEL + VERSION + ":predict",
                        ApiGroup.INFERENCE,
                        "Predicts",
                        TensorFlowOperations.PREDICT,
                        inference(Api.PREDICT)),
                post(
                        MODEL + VERSION + ":classify",
                        ApiGroup.INFERENCE,
                        "Classifies examples",
                        TensorFlowOperations.CLASSIFY,
                        inference(Api.CLASSIFY)),
                post(
                        MODEL + VERSION + ":regress",
                        ApiGroup.INFERENCE,
                        "Regresses examples",
                        TensorFlowOperations.REGRESS,
                        inference(Api.REGRESS)),
                get(
                        MODEL + VERSION,
                        ApiGroup.METADATA,
                        "The states of a model's versions",
                        TensorFlowOperations.STATUS,
                        telling(information::status)),
                get(
                        MODEL + VERSION + "/metadata",
                        ApiGroup.METADATA,
                        "The signatures of a model",
                        TensorFlowOperations.METADATA,
                        telling(information::metadata)),
                get(
                        "/v1/models[/versions/{version:number}]",
                        ApiGroup.METADATA,
                        "Answers that the model's name is missing",
                        TensorFlowOperations.NAMELESS,
                        (exchange, path) -> {
                            throw GatunException.invalidArgument("Missing model name in request.");
                        }),
                live);
        this.table = new RouteTable(ROOT, rows, headers.access(), new Conventions());
    }

    /** The paths. */
    public RouteTable table() {
        return table;
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (monitoring != null && path.equals(monitoring.path())) {
            answerMetrics(exchange, monitoring);
            return true;
        }
        if (path.equals(LIVENESS)) {
            return liveness.answer(exchange);
        }
        return table.knows(exchange) && answerModels(exchange);
    }

    @Override
    public String root() {
        return ROOT;
    }

    @Override
    public boolean answerUnknownPath(Exchange exchange) {
        return exchange.path().regionMatches(true, 0, ROOT, 0, ROOT.length()) && answerModels(exchange);
    }

    /** Answers any path below {@code /v1/}, also one without a route. */
    private boolean answerModels(Exchange exchange) {
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
            return table.answer(exchange) || table.answerUnknownPath(exchange);
        } catch (GatunException e) {
            RestResponse.fail(exchange, e);
        } catch (ModelTimeout e) {
            RestResponse.fail(exchange, Status.GATEWAY_TIMEOUT_504, String.valueOf(e.getMessage()));
        }
        return true;
    }

    /** Fails when the server stops. TensorFlow Serving itself does not know the path. */
    private static void live(Exchange exchange, InferenceServer server) {
        if (!server.live()) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "The server is not live");
        }
        exchange.answer(ALIVE, exchange.json().raw("{\"status\":\"alive\"}"));
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

    private interface ServableHandler {
        void answer(Exchange exchange, ServablePath path);
    }

    private static RouteHandler telling(ServableHandler handler) {
        return (exchange, values) -> {
            ServablePath path = ServablePath.of(values);
            if (!exchange.query().isEmpty()) {
                throw malformed(exchange);
            }
            if (path.versionOverflows()) {
                RestResponse.failSilently(exchange, Status.BAD_REQUEST_400);
                return;
            }
            handler.answer(exchange, path);
        };
    }

    private RouteHandler inference(Api api) {
        return telling((exchange, path) -> {
            if (monitoring == null) {
                infer(exchange, path, api);
            } else {
                inferCounted(exchange, path, api, monitoring.metrics());
            }
        });
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

    private static GatunException malformed(Exchange exchange) {
        String query = exchange.query().isEmpty() ? "" : "?" + exchange.query();
        return GatunException.invalidArgument(
                "Malformed request: " + exchange.method().text() + " " + exchange.path() + query);
    }

    /** A request without a route, by its path or by its method, is malformed. */
    private static final class Conventions implements RouteConventions {
        @Override
        public void answerUnknownPath(Exchange exchange) {
            throw malformed(exchange);
        }

        @Override
        public void answerOtherMethod(Exchange exchange) {
            throw malformed(exchange);
        }

        @Override
        public boolean answersHeadAndOptions() {
            return false;
        }

        @Override
        public boolean ignoresCase() {
            return true;
        }
    }

    /** Predict: from the JSON of a request to the JSON of the response. Safe for any thread. */
    static final class PredictRoute {
        private final InferenceServer server;
        private final Servables servables;
        private final RestBodies bodies;
        private final ModelCalls calls;

        PredictRoute(InferenceServer server, Servables servables, RestBodies bodies, ModelCalls calls) {
            this.server = server;
            this.servables = servables;
            this.bodies = bodies;
            this.calls = calls;
        }

        void answer(Exchange exchange, ServablePath path) {
            Predict predict;
            try (RequestUsage usage = new RequestUsage(server.limits(), server.heap())) {
                predict = read(exchange, path, usage);
            }
            calls.answer(
                    exchange,
                    predict.request(),
                    Api.PREDICT,
                    (json, outputs) -> PredictResponseJson.write(json, outputs, predict.rows()));
        }

        private record Predict(InferenceRequest request, boolean rows) {}

        /** Reads the inputs, after which the body is not needed any more. */
        private Predict read(Exchange exchange, ServablePath path, RequestUsage usage) {
            Landed body = bodies.land(exchange);
            try (Buffer buffer = body.buffer()) {
                RequestDocument document =
                        RequestDocument.forPredict(buffer.segment(), body.offset(), body.byteSize(), usage);
                try {
                    return read(exchange, document, path);
                } catch (GatunException e) {
                    throw document.firstFailure(e);
                }
            }
        }

        private Predict read(Exchange exchange, RequestDocument document, ServablePath path) {
            Servable servable = path.servable(document.signatureName());
            ModelVersion model = servables.findSingleAnswering(servable);
            EntryPoint signature = Signatures.of(model, servable);
            InferenceRequest request = calls.request(exchange, model, servable);
            request.entryPoint(signature.name());
            try (PredictReader reader = new PredictReader(server.buffers(), document, model, signature.inputs())) {
                return new Predict(request, reader.readInto(request));
            } catch (Throwable t) {
                ModelCalls.giveUp(request);
                throw t;
            }
        }

        /** Finds the signature for a request to a model. */
        static final class Signatures {
            private Signatures() {}

            /** The signature that a request names. Throws INVALID_ARGUMENT when there is none, or it has no inputs. */
            static EntryPoint of(ModelVersion model, Servable wanted) {
                EntryPoint signature = model.entryPoints().get(wanted.entryPoint());
                if (signature == null) {
                    throw GatunException.invalidArgument(
                            "Serving signature name: \"" + wanted.entryPoint() + "\" not found in signature def");
                }
                if (signature.inputs().isEmpty()) {
                    throw GatunException.invalidArgument("Failed to get input map for signature: "
                            + (wanted.signature().isEmpty() ? "DEFAULT" : wanted.signature()));
                }
                return signature;
            }
        }
    }
}
