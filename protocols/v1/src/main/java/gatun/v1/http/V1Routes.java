// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import static gatun.http.routes.RouteTable.Route.get;
import static gatun.http.routes.RouteTable.Route.post;

import gatun.http.connection.Exchange;
import gatun.http.routes.PathValues;
import gatun.http.routes.PathValues.RouteConventions.BareConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceService;
import gatun.v1.AllStatuses;
import gatun.v1.ControlCounters;
import gatun.v1.ModelControl;
import gatun.v1.V1Api;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.List;
import java.util.Map;

/** The paths of the v1 API, all below {@code /api/}. */
public final class V1Routes {
    private static final String ROOT = "/api/";
    private static final String REGIONS = "/api/sharedmemorycontrol";

    private V1Routes() {}

    /** The routes to {@code api}, of which {@code access} restricts groups. */
    public static RouteTable to(InferenceService server, V1Api api, ApiAccess access) {
        ControlRoute control = new ControlRoute(api);
        InferRoute infer = new InferRoute(server, api);
        StatusRoutes status = new StatusRoutes(api, control);
        ModelControlRoutes models = new ModelControlRoutes(api.modelControl(), control);
        SharedMemoryRoutes regions = new SharedMemoryRoutes(server.buffers(), api.sharedMemory(), control);
        List<Route> rows = List.of(
                post(
                        "/api/infer/{model}[/{version:number}]",
                        ApiGroup.INFERENCE,
                        "Infers",
                        V1Operations.INFER,
                        infer::answer),
                get(
                        "/api/health/{state}",
                        ApiGroup.HEALTH,
                        "Whether the server is live, or ready",
                        V1Operations.HEALTH,
                        status::health),
                // It tells the configurations of models and what they have counted too, which nobody had to keep apart
                // then.
                get(
                        "/api/status[/{model}]",
                        ApiGroup.METADATA,
                        "What the server and its models do",
                        V1Operations.TELL,
                        status::status),
                get(
                        "/api/repository/index",
                        ApiGroup.MODEL_REPOSITORY,
                        "The models of the repository",
                        V1Operations.TELL,
                        status::repository),
                post(
                        "/api/modelcontrol/load/{model}",
                        ApiGroup.MODEL_REPOSITORY,
                        "Loads a model",
                        V1Operations.CONTROL,
                        models::load),
                post(
                        "/api/modelcontrol/unload/{model}",
                        ApiGroup.MODEL_REPOSITORY,
                        "Unloads a model",
                        V1Operations.CONTROL,
                        models::unload),
                get(
                        REGIONS + "/status",
                        ApiGroup.SHARED_MEMORY,
                        "The registered regions",
                        V1Operations.TELL,
                        regions::status),
                // A key keeps its slash, so that two stand before it.
                post(
                        REGIONS + "/register/{region}//{key}/{offset:number}/{size:number}",
                        ApiGroup.SHARED_MEMORY,
                        "Registers a region of system memory",
                        V1Operations.CONTROL,
                        regions::registerSystem),
                post(
                        REGIONS + "/cudaregister/{region}/{size:number}/{device:number}",
                        ApiGroup.SHARED_MEMORY,
                        "Registers a region of CUDA memory, whose handle is the body",
                        V1Operations.CUDA_REGISTER,
                        regions::registerCuda),
                post(
                        REGIONS + "/unregister/{region}",
                        ApiGroup.SHARED_MEMORY,
                        "Unregisters a region",
                        V1Operations.CONTROL,
                        regions::unregister),
                post(
                        REGIONS + "/unregisterall",
                        ApiGroup.SHARED_MEMORY,
                        "Unregisters all regions",
                        V1Operations.CONTROL,
                        regions::unregisterAll));
        return new RouteTable(ROOT, rows, access, new Conventions());
    }

    /** V1 servers looked at the method first, as soon as the beginning of the path told them which it must be. */
    private static final class Conventions extends BareConventions {
        private static final Map<String, Method> METHODS = Map.of(
                "health", Method.GET,
                "status", Method.GET,
                "repository", Method.GET,
                "infer", Method.POST,
                "modelcontrol", Method.POST);

        @Override
        public void answerUnknownPath(Exchange exchange) {
            String rest = exchange.path().substring(ROOT.length());
            int slash = rest.indexOf('/');
            Method only = METHODS.get(slash < 0 ? rest : rest.substring(0, slash));
            boolean head = exchange.method().equals(Method.HEAD);
            if (only == null || only.equals(head ? Method.GET : exchange.method())) {
                super.answerUnknownPath(exchange);
            } else {
                exchange.header(HeaderNames.ALLOW, only.text());
                answerOtherMethod(exchange);
            }
        }
    }

    /** Loading and unloading of models. Safe for any thread. */
    static final class ModelControlRoutes {
        private final ModelControl models;
        private final ControlRoute control;

        ModelControlRoutes(ModelControl models, ControlRoute control) {
            this.models = models;
            this.control = control;
        }

        void load(Exchange exchange, PathValues path) {
            answer(exchange, () -> models.load(path.value("model")));
        }

        void unload(Exchange exchange, PathValues path) {
            answer(exchange, () -> models.unload(path.value("model")));
        }

        private void answer(Exchange exchange, Runnable change) {
            control.answer(exchange, ControlCounters.Kind.MODEL_CONTROL, () -> {
                change.run();
                return MessageBody.NONE;
            });
        }
    }

    /** Health of the server, status of its models, and the repository index. Safe for any thread. */
    static final class StatusRoutes {
        private final V1Api api;
        private final ControlRoute control;

        StatusRoutes(V1Api api, ControlRoute control) {
            this.api = api;
            this.control = control;
        }

        void health(Exchange exchange, PathValues path) {
            String state = path.value("state");
            if (!state.equals("live") && !state.equals("ready")) {
                exchange.answerEmpty(Status.BAD_REQUEST_400);
                return;
            }
            control.answerHealth(exchange, () -> api.serverStatuses().healthy(state));
        }

        void status(Exchange exchange, PathValues path) {
            String model = path.value("model");
            try (AllStatuses all = api.serverStatuses().all()) {
                control.answer(
                        exchange,
                        ControlCounters.Kind.STATUS,
                        () -> MessageBody.alsoJson(
                                model.isEmpty()
                                        ? all.read()
                                        : api.serverStatuses().of(model),
                                exchange));
            }
        }

        void repository(Exchange exchange, PathValues path) {
            control.answer(
                    exchange,
                    ControlCounters.Kind.REPOSITORY,
                    () -> MessageBody.of(api.modelControl().index(), exchange));
        }
    }
}
