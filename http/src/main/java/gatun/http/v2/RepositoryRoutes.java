package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.GatunException;
import gatun.runtime.InferenceServer;
import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;

/** The repository index. Safe for any thread. */
final class RepositoryRoutes {
    private static final String ROOT = "/v2/repository/";
    private static final String INDEX = "index";

    private final InferenceServer server;
    private final JsonBody jsonBody;

    RepositoryRoutes(InferenceServer server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    /** Answers {@code /v2/repository/index} and {@code /v2/repository/<any name>/index}; false for other paths. */
    boolean answer(Exchange exchange, String path) {
        if (!path.startsWith(ROOT)) {
            return false;
        }
        String rest = path.substring(ROOT.length());
        String action = rest.substring(rest.indexOf('/') + 1);
        if (!action.equals(INDEX)) {
            return false;
        }
        V2Routes.post(exchange, this::index);
        return true;
    }

    private void index(Exchange exchange) {
        boolean[] readyOnly = {false};
        jsonBody.read(exchange, members -> {
            if (!members.nameIs("ready")) {
                members.skipValue();
                return;
            }
            if (members.peek() != JsonReader.Kind.BOOLEAN) {
                throw GatunException.invalidArgument("Invalid value for 'ready': expected a boolean");
            }
            readyOnly[0] = members.readBoolean("ready");
        });
        JsonWriter json = exchange.json().raw('[');
        boolean first = true;
        for (ModelStatus model : server.index()) {
            if (readyOnly[0] && model.state() != ModelState.READY) {
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
        json.raw(",\"state\":").string(model.state().name());
        if (!model.reason().isEmpty()) {
            json.raw(",\"reason\":").string(model.reason());
        }
        json.raw('}');
    }
}
