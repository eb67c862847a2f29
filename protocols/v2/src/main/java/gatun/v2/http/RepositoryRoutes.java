// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import java.util.List;

/** The repository index, and loading and unloading of models. Safe for any thread. */
final class RepositoryRoutes {
    /** Heap for the state of a version, in bytes, while a client reads it. */
    private static final int STATUS_BYTE_SIZE = 1024;

    private final InferenceServer server;
    private final JsonBody jsonBody;

    RepositoryRoutes(InferenceServer server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    private static void refuseRepository(PathValues path) {
        if (!path.value("repository").isEmpty()) {
            throw new GatunException(ErrorCode.UNSUPPORTED, "'repository_name' specification is not supported");
        }
    }

    /** Loads the model of the path. */
    void load(Exchange exchange, PathValues path) {
        refuseRepository(path);
        RequestUsage usage = jsonBody.usage();
        try (LoadParameters parameters = new LoadParameters(server.buffers(), usage)) {
            jsonBody.read(exchange, usage, parameters);
            server.load(path.value("model"), parameters.override());
        }
        JsonResponse.sendEmpty(exchange);
    }

    /** Unloads the model of the path. */
    void unload(Exchange exchange, PathValues path) {
        refuseRepository(path);
        boolean[] dependents = {false};
        jsonBody.readControl(exchange, members -> {
            if (!members.nameIs(LoadParameters.NAME)) {
                members.skipValue();
                return;
            }
            members.enterObject("");
            while (members.nextMember()) {
                if (members.nameIs("unload_dependents")) {
                    dependents[0] = members.readBoolean("");
                } else {
                    members.skipValue();
                }
            }
        });
        server.unload(path.value("model"), dependents[0]);
        JsonResponse.sendEmpty(exchange);
    }

    /** Answers with all models; the name of a repository makes no difference. */
    void index(Exchange exchange) {
        boolean[] readyOnly = {false};
        jsonBody.readControl(exchange, members -> {
            if (!members.nameIs("ready")) {
                members.skipValue();
                return;
            }
            if (members.peek() != JsonKind.BOOLEAN) {
                throw GatunException.invalidArgument("Invalid value for 'ready': expected a boolean");
            }
            readyOnly[0] = members.readBoolean("ready");
        });
        List<ModelStatus> models = server.index();
        Hold held = server.heap().reserve((long) models.size() * STATUS_BYTE_SIZE);
        try {
            send(exchange, models, readyOnly[0]);
        } finally {
            held.close();
        }
    }

    private static void send(Exchange exchange, List<ModelStatus> models, boolean readyOnly) {
        JsonWriter json = exchange.json(JsonResponse.HEADERS).raw('[');
        boolean first = true;
        for (ModelStatus model : models) {
            if (readyOnly && model.state() != ModelState.READY) {
                continue;
            }
            if (!first) {
                json.raw(',');
            }
            first = false;
            write(json, model);
        }
        JsonResponse.send(exchange, json.raw(']'));
    }

    private static void write(JsonWriter json, ModelStatus model) {
        json.raw("{\"name\":").string(model.name());
        if (!model.version().isEmpty()) {
            json.raw(",\"version\":").string(model.version());
        }
        if (model.state() != ModelState.UNKNOWN) {
            json.raw(",\"state\":").string(model.state().name());
        }
        if (!model.reason().isEmpty()) {
            json.raw(",\"reason\":").string(model.reason());
        }
        json.raw('}');
    }
}
