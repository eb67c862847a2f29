// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import gatun.cloud.BinaryContentType;
import gatun.cloud.RewrittenRequests;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues;
import gatun.http.routes.PathValues.RouteConventions.BareConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.ModelLoadException;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.server.InferenceServer;
import gatun.v2.http.JsonBody;
import gatun.v2.http.V2Routes;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** SageMaker's container endpoint: {@code /ping}, {@code /invocations} and {@code /models}. */
public final class SageMakerProtocol implements Protocol {
    private static final BinaryContentType BINARY =
            new BinaryContentType("application/vnd.sagemaker-triton.binary+json;json-header-size=");

    /** The name that clients read where no default model is set: it tells what to set. */
    private static final String UNSPECIFIED = "unspecified_SAGEMAKER_TRITON_DEFAULT_MODEL_NAME";

    private final SageMakerSettings settings;
    private final HostedModels models;
    private final RewrittenRequests requests;
    private final RouteTable table;

    /** The endpoint in front of {@code server}. */
    public SageMakerProtocol(InferenceServer server, ProtocolSettings common, SageMakerSettings settings) {
        this.settings = settings;
        this.models = new HostedModels(server, settings.models());
        RouteTable v2 = V2Routes.to(
                server,
                common.withHeaders(HeaderRules.none(), HeaderRules.none()),
                new ClientRegions(server.regions(), common.clientMemory()),
                ResponseHeaders.constant("Content-Type: " + BINARY.prefix()));
        this.requests = new RewrittenRequests(v2, BINARY);
        MultiModelRoutes multiModel =
                new MultiModelRoutes(server, models, new JsonBody(server, common.maxInputByteSize()));
        this.table = new RouteTable(
                "/",
                List.of(
                        Route.get(
                                "/ping",
                                ApiGroup.HEALTH,
                                "Whether the server is ready",
                                SageMakerOperations.ping(settings.ping()),
                                (exchange, path) -> ping(exchange)),
                        Route.post(
                                "/invocations",
                                ApiGroup.INFERENCE,
                                "Infers with the default model",
                                SageMakerOperations.invocation(settings.invocation(), BINARY.mediaType()),
                                (exchange, path) -> invoke(exchange)),
                        Route.get(
                                "/models[/]",
                                ApiGroup.MODEL_REPOSITORY,
                                "The models that are loaded",
                                SageMakerOperations.LIST,
                                (exchange, path) -> multiModel.list(exchange)),
                        Route.post(
                                "/models[/]",
                                ApiGroup.MODEL_REPOSITORY,
                                "Loads a model from a folder",
                                SageMakerOperations.LOAD,
                                (exchange, path) -> multiModel.load(exchange)),
                        Route.get(
                                "/models/{model}",
                                ApiGroup.MODEL_REPOSITORY,
                                "A model that is loaded",
                                SageMakerOperations.GET,
                                multiModel::get),
                        new Route(
                                Method.DELETE,
                                "/models/{model}",
                                ApiGroup.MODEL_REPOSITORY,
                                "Unloads a model, and waits until its requests have ended",
                                SageMakerOperations.UNLOAD,
                                multiModel::unload),
                        Route.post(
                                "/models/{model}/invoke",
                                ApiGroup.INFERENCE,
                                "Infers with a model",
                                SageMakerOperations.invocationOfModel(BINARY.mediaType()),
                                this::invoke)),
                common.http().access(),
                new BareConventions());
    }

    private void ping(Exchange exchange) {
        requests.pass(
                exchange, exchange.method(), "/v2/health/" + settings.ping().text());
    }

    private void invoke(Exchange exchange) {
        String model = settings.defaultModel().isEmpty() ? UNSPECIFIED : settings.defaultModel();
        String path = "/v2/models/" + model + "/" + settings.invocation().text();
        if (settings.invocation() == SageMakerSettings.Invocation.INFER) {
            requests.infer(exchange, path);
        } else {
            requests.inferJson(exchange, path);
        }
    }

    private void invoke(Exchange exchange, PathValues path) {
        Optional<HostedModels.Hosted> model = models.find(path.value("model"));
        if (model.isEmpty()) {
            exchange.answerEmpty(Status.NOT_FOUND_404);
            return;
        }
        try {
            requests.infer(exchange, "/v2/models/" + model.get().name() + "/infer");
        } catch (GatunException e) {
            // SageMaker knows no other status of a model's container.
            exchange.answerFailure(Status.BAD_REQUEST_400, e.getMessage());
        }
    }

    @Override
    public RouteTable table() {
        return table;
    }

    @Override
    public boolean shared() {
        return false;
    }

    /** Lists, loads and unloads models as SageMaker's multi-model endpoints ask for it. Safe for any thread. */
    static final class MultiModelRoutes {
        /** The archive that a client of SageMaker names; SageMaker passes it on with each request. */
        private static final HeaderName TARGET = HeaderNames.create("X-Amzn-SageMaker-Target-Model");

        private static final ResponseHeaders JSON =
                ResponseHeaders.of(ResponseHeaders.constant("Content-Type: application/json"));

        /** The answer to a load for which there is no memory: SageMaker unloads other models and tries again. */
        private static final Status INSUFFICIENT_STORAGE = Status.create(507, "Insufficient Storage");

        private final InferenceServer server;
        private final HostedModels models;
        private final JsonBody jsonBody;

        MultiModelRoutes(InferenceServer server, HostedModels models, JsonBody jsonBody) {
            this.server = server;
            this.models = models;
            this.jsonBody = jsonBody;
        }

        void list(Exchange exchange) {
            JsonWriter json = exchange.json(JSON).raw("{\"models\":[");
            boolean first = true;
            for (Map.Entry<String, HostedModels.Hosted> model : models.all().entrySet()) {
                if (server.unreadiness(model.getValue().name(), "").isEmpty()) {
                    json.raw(first ? "" : ",");
                    first = false;
                    write(json, model.getKey(), model.getValue());
                }
            }
            exchange.answer(JSON, json.raw("]}"));
        }

        void get(Exchange exchange, PathValues path) {
            String hash = path.value("model");
            Optional<HostedModels.Hosted> model = models.find(hash);
            if (model.isEmpty()) {
                exchange.answerEmpty(Status.NOT_FOUND_404);
                return;
            }
            JsonWriter json = exchange.json(JSON);
            write(json, hash, model.get());
            exchange.answer(JSON, json);
        }

        private static void write(JsonWriter json, String hash, HostedModels.Hosted model) {
            json.raw("{\"modelName\":")
                    .string(hash)
                    .raw(",\"modelUrl\":")
                    .string(model.archive().url());
            json.raw('}');
        }

        void load(Exchange exchange) {
            LoadRequest request = new LoadRequest();
            try {
                jsonBody.readControl(exchange, request::member);
                String hash = request.require("model_name", request.modelName);
                String url = request.require("url", request.url);
                models.load(hash, exchange.header(TARGET).orElse(hash), url);
            } catch (GatunException e) {
                exchange.answerFailure(status(e), e.getMessage());
                return;
            }
            exchange.answerEmpty(Status.OK_200);
        }

        void unload(Exchange exchange, PathValues path) {
            boolean found;
            try {
                found = models.unload(path.value("model"));
            } catch (GatunException e) {
                exchange.answerFailure(Status.BAD_REQUEST_400, e.getMessage());
                return;
            }
            exchange.answerEmpty(found ? Status.OK_200 : Status.NOT_FOUND_404);
        }

        private static Status status(GatunException failure) {
            return switch (failure.code()) {
                case ALREADY_EXISTS -> Status.CONFLICT_409;
                case RESOURCE_EXHAUSTED -> INSUFFICIENT_STORAGE;
                default -> isForMemory(failure) ? INSUFFICIENT_STORAGE : Status.BAD_REQUEST_400;
            };
        }

        /** Whether a model could not be loaded because there was no memory for it. */
        private static boolean isForMemory(GatunException failure) {
            return failure instanceof ModelLoadException load
                    && load.reasons().stream().anyMatch(reason -> reason.code() == ErrorCode.RESOURCE_EXHAUSTED);
        }

        /** The members of a body that matter. */
        private static final class LoadRequest {
            private String modelName = "";
            private String url = "";

            private void member(JsonReader json) {
                if (json.nameIs("model_name")) {
                    modelName = json.readString("Unable to parse 'model_name'");
                } else if (json.nameIs("url")) {
                    url = json.readString("Unable to parse 'url'");
                } else {
                    json.skipValue();
                }
            }

            private String require(String member, String value) {
                if (value.isEmpty()) {
                    throw GatunException.invalidArgument("the request to load a model has no '" + member
                            + "'; expected {\"model_name\": NAME, \"url\": FOLDER}");
                }
                return value;
            }
        }
    }
}
