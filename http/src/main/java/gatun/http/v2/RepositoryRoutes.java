// SPDX-License-Identifier: Apache-2.0
package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import java.util.List;

/** The repository index, and loading and unloading of models. Safe for any thread. */
final class RepositoryRoutes {
    private static final String ROOT = "/v2/repository/";
    private static final String INDEX = "index";

    /** What the state of a version takes of the heap, while a client reads it. */
    private static final int STATUS_BYTE_SIZE = 1024;

    private final InferenceServer server;
    private final JsonBody jsonBody;

    RepositoryRoutes(InferenceServer server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    /**
     * Answers {@code /v2/repository/index} and {@code /v2/repository/models/<name>/(load|unload)}, also with the name of a repository after
     * {@code repository}; false for other paths.
     */
    boolean answer(Exchange exchange, String path) {
        if (!path.startsWith(ROOT)) {
            return false;
        }
        String[] parts = path.substring(ROOT.length()).split("/", -1);
        boolean named = parts.length == 2 || parts.length == 4;
        int first = named ? 1 : 0;
        if (parts.length == first + 1 && parts[first].equals(INDEX)) {
            // The repository's name makes no difference here.
            V2Routes.post(exchange, this::index);
            return true;
        }
        if (parts.length != first + 3 || !parts[first].equals("models")) {
            return false;
        }
        String model = parts[first + 1];
        switch (parts[first + 2]) {
            case "load" -> V2Routes.post(exchange, request -> load(request, model, named));
            case "unload" -> V2Routes.post(exchange, request -> unload(request, model, named));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void refuseName(boolean named) {
        if (named) {
            throw new GatunException(ErrorCode.UNSUPPORTED, "'repository_name' specification is not supported");
        }
    }

    private void load(Exchange exchange, String model, boolean named) {
        refuseName(named);
        RequestUsage usage = jsonBody.usage();
        try (LoadParameters parameters = new LoadParameters(server.buffers(), usage)) {
            jsonBody.read(exchange, usage, parameters);
            server.load(model, parameters.override());
        }
        JsonAnswer.sendEmpty(exchange);
    }

    private void unload(Exchange exchange, String model, boolean named) {
        refuseName(named);
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
        server.unload(model, dependents[0]);
        JsonAnswer.sendEmpty(exchange);
    }

    private void index(Exchange exchange) {
        boolean[] readyOnly = {false};
        jsonBody.readControl(exchange, members -> {
            if (!members.nameIs("ready")) {
                members.skipValue();
                return;
            }
            if (members.peek() != JsonReader.Kind.BOOLEAN) {
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
        JsonWriter json = exchange.json(JsonAnswer.HEADERS).raw('[');
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
        JsonAnswer.send(exchange, json.raw(']'));
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
