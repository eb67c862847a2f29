// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import gatun.cloud.BinaryContentType;
import gatun.cloud.RewrittenRequests;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.routes.BareConventions;
import gatun.http.routes.PathValues;
import gatun.http.routes.Route;
import gatun.http.routes.RouteTable;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderRules;
import gatun.runtime.server.InferenceServer;
import gatun.v2.http.JsonBody;
import gatun.v2.http.V2Routes;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import java.util.Optional;

/**
 * The endpoint that SageMaker expects of a container: {@code /ping}, {@code /invocations} of one model, and
 * {@code /models} for many that come and go.
 */
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
                                (exchange, path) -> ping(exchange)),
                        Route.post(
                                "/invocations",
                                ApiGroup.INFERENCE,
                                "Infers with the default model",
                                (exchange, path) -> invoke(exchange)),
                        Route.get(
                                "/models[/]",
                                ApiGroup.MODEL_REPOSITORY,
                                "The models that are loaded",
                                (exchange, path) -> multiModel.list(exchange)),
                        Route.post(
                                "/models[/]",
                                ApiGroup.MODEL_REPOSITORY,
                                "Loads a model from a folder",
                                (exchange, path) -> multiModel.load(exchange)),
                        Route.get(
                                "/models/{model}",
                                ApiGroup.MODEL_REPOSITORY,
                                "A model that is loaded",
                                multiModel::get),
                        new Route(
                                Method.DELETE,
                                "/models/{model}",
                                ApiGroup.MODEL_REPOSITORY,
                                "Unloads a model, and waits until its requests have ended",
                                multiModel::unload),
                        Route.post("/models/{model}/invoke", ApiGroup.INFERENCE, "Infers with a model", this::invoke)),
                common.http().access(),
                new BareConventions());
    }

    private void ping(Exchange exchange) {
        requests.pass(exchange, Method.GET, "/v2/health/" + settings.ping().text());
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

    /** The header of the target cannot name a model other than that of the path. */
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
}
