// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import static gatun.http.routes.Route.get;

import gatun.console.ServerSurroundings;
import gatun.console.history.History;
import gatun.console.history.Sampler;
import gatun.console.history.SlowRequest;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues;
import gatun.http.routes.Route;
import gatun.http.routes.RouteHandler;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.ModelStatus;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The API of the console: what a page about the server needs, as JSON. Safe for any thread. */
final class ApiRoutes implements AutoCloseable {
    private static final ResponseHeaders JSON = ResponseHeaders.of(ResponseHeaders.constant(
            "Content-Type: application/json", "Cache-Control: no-store", "X-Content-Type-Options: nosniff"));

    private static final int HOUR = 3600;

    /** Alerts are looked for once in so many seconds. */
    private static final int ALERT_TICKS = 5;

    private final Sampler sampler;
    private final Ticks ticks;
    private final Viewers viewers;
    private final ModelView models;
    private final EventRoute events;
    private final SharedText overview;
    private final ClientRegions regions;
    private final SharedText memory;
    private final SharedText memoryWithoutRegions;
    private final SharedText connections;

    /**
     * The API about {@code server}; looks at it from now on, each second.
     *
     * @param regions says who may see the shared memory of clients
     */
    ApiRoutes(InferenceServer server, ServerSurroundings surroundings, ClientRegions regions) {
        this.regions = regions;
        this.sampler = new Sampler(server);
        WorkerUse workers = new WorkerUse(server);
        Alerts alerts = new Alerts(server, sampler, surroundings, workers);
        ProcessUse process = new ProcessUse();
        this.ticks = new Ticks(tick -> {
            sampler.sample();
            if (tick % ALERT_TICKS == 0) {
                alerts.look();
            }
            process.look();
        });
        this.viewers = new Viewers(System::nanoTime, ticks::wakeAll);
        Overview page = new Overview(server, sampler, alerts, process, surroundings, workers, viewers::count);
        this.overview = new SharedText(ticks, page::write);
        MemoryView view = new MemoryView(server, surroundings);
        this.memory = new SharedText(ticks, view::write);
        this.memoryWithoutRegions = new SharedText(ticks, view::writeWithoutRegions);
        this.connections = new SharedText(ticks, new ConnectionsView(surroundings)::write);
        this.models = new ModelView(server, sampler);
        this.events = new EventRoute(server, ticks, viewers, overview, models, sampler);
    }

    /** The rows of a table whose paths begin with {@code root}. */
    List<Route> rows(String root) {
        String model = root + "/models/{model}[/versions/{version:number}]";
        return List.of(
                row(root + "/overview", "The server at a glance", (exchange, path) -> send(exchange, overview)),
                row(
                        root + "/events",
                        "The overview each second, and what changes of a model, as server-sent events",
                        (exchange, path) -> events.answer(exchange)),
                row(model, "A model's tensors, configuration and counters", this::model),
                row(model + "/history", "A model's last hour, second by second", this::history),
                row(model + "/slowest", "A model's slowest requests of the last hour", this::slowest),
                row(
                        root + "/memory",
                        "The memory of requests and of clients",
                        (exchange, path) ->
                                send(exchange, regions.mayUse(exchange.location()) ? memory : memoryWithoutRegions)),
                row(root + "/connections", "Who is connected", (exchange, path) -> send(exchange, connections)));
    }

    /** A row of the table; the first request to any has single requests watched. */
    private Route row(String path, String summary, RouteHandler handler) {
        return get(path, ApiGroup.CONSOLE, summary, (exchange, values) -> {
            sampler.watchRequests();
            handler.answer(exchange, values);
        });
    }

    private static void send(Exchange exchange, SharedText text) {
        byte[] bytes = text.get();
        exchange.answer(JSON, exchange.json(JSON).raw(bytes, bytes.length));
    }

    private static void send(Exchange exchange, Consumer<JsonText> writing) {
        JsonWriter text = exchange.json(JSON);
        writing.accept(new JsonText(text));
        exchange.answer(JSON, text);
    }

    private void model(Exchange exchange, PathValues path) {
        ModelStatus status = status(path);
        send(exchange, json -> models.write(json, status));
    }

    private void history(Exchange exchange, PathValues path) {
        Version asked = version(path);
        History history = sampler.history(asked.name(), asked.version(), HOUR).orElseThrow(asked::unknown);
        send(exchange, json -> {
            HistoryView.write(json.object(), history);
            json.endObject();
        });
    }

    private void slowest(Exchange exchange, PathValues path) {
        Version asked = version(path);
        List<SlowRequest> slowest =
                sampler.slowest(asked.name(), asked.version()).orElseThrow(asked::unknown);
        send(exchange, json -> {
            HistoryView.write(json.object(), slowest);
            json.endObject();
        });
    }

    /** A version that a request is about, whether it is still there or not. */
    private record Version(String name, String version) {
        GatunException unknown() {
            return new GatunException(
                    ErrorCode.NOT_FOUND,
                    "nothing is known of model '" + name + "' version '" + version
                            + "': it did not serve, or is gone for too long");
        }
    }

    private Version version(PathValues path) {
        String name = path.value("model");
        String version = path.value("version");
        return new Version(
                name,
                version.isEmpty()
                        ? models.status(name, version).map(ModelStatus::version).orElse("")
                        : version);
    }

    private ModelStatus status(PathValues path) {
        String name = path.value("model");
        String version = path.value("version");
        Optional<ModelStatus> status = models.status(name, version);
        return status.orElseThrow(() -> new GatunException(
                ErrorCode.NOT_FOUND,
                "Request for unknown model: '" + name + "'" + (version.isEmpty() ? "" : " version " + version)
                        + " is not found"));
    }

    /** Ends the streams of events, soon. */
    void endViewers() {
        ticks.endWaiting();
    }

    /** Ends the streams of events, those too whose clients do not read, and looks at the server no more. */
    @Override
    public void close() {
        ticks.close();
        viewers.interrupt();
    }
}
