// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import static gatun.http.routes.RouteTable.Route.get;

import gatun.console.history.History;
import gatun.console.history.Sampler;
import gatun.console.history.SlowRequest;
import gatun.console.history.TimeRange;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;
import gatun.http.routes.PathValues;
import gatun.http.routes.PathValues.UrlText;
import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.ModelStatus;
import gatun.runtime.ServerExit;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.Method;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** The API of the console: what a page about the server needs, as JSON. Safe for any thread. */
final class ApiRoutes implements AutoCloseable {
    private static final ResponseHeaders JSON = ResponseHeaders.of(ResponseHeaders.constant(
            "Content-Type: application/json", "Cache-Control: no-store", "X-Content-Type-Options: nosniff"));

    /** What the page reads is its own affair, and changes with it. */
    private static final Operation VIEW = Operation.returning(Schema.OBJECT);

    private static final Operation VIEW_OF_MODEL = VIEW.failing(400, 404);
    private static final Operation EVENTS = Operation.refusing()
            .orReturning("text/event-stream", Schema.STRING)
            .readingQuery("model", Schema.STRING)
            .readingQuery("version", Schema.STRING)
            .failing(400, 503);

    private static final Operation TRENDS =
            VIEW.readingQuery("minutes", Schema.oneOf("5", "15", "60")).failing(400);

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
    private final Map<TimeRange, SharedText> trends = new EnumMap<>(TimeRange.class);

    /** Begins to sample {@code server} each second; {@code regions} says who may see the shared memory of clients. */
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
        for (TimeRange range : TimeRange.values()) {
            trends.put(
                    range, new SharedText(ticks, text -> HistoryView.write(new JsonText(text), sampler.trends(range))));
        }
        this.models = new ModelView(server, sampler);
        this.events = new EventRoute(server, ticks, viewers, overview, models, sampler);
    }

    List<Route> rows(String root) {
        String model = root + "/models/{model}[/versions/{version:number}]";
        return List.of(
                row(root + "/overview", "The server at a glance", VIEW, (exchange, path) -> send(exchange, overview)),
                row(
                        root + "/events",
                        "The overview each second, and what changes of a model, as server-sent events",
                        EVENTS,
                        (exchange, path) -> events.answer(exchange)),
                row(
                        root + "/trends",
                        "The last minutes of the server and its busiest versions",
                        TRENDS,
                        (exchange, path) -> trends(exchange)),
                row(model, "A model's tensors, configuration and counters", VIEW_OF_MODEL, this::model),
                row(model + "/history", "A model's last hour, second by second", VIEW_OF_MODEL, this::history),
                row(model + "/slowest", "A model's slowest requests of the last hour", VIEW_OF_MODEL, this::slowest),
                row(
                        root + "/memory",
                        "The memory of requests and of clients",
                        VIEW,
                        (exchange, path) ->
                                send(exchange, regions.mayUse(exchange.location()) ? memory : memoryWithoutRegions)),
                row(root + "/connections", "Who is connected", VIEW, (exchange, path) -> send(exchange, connections)));
    }

    /** A row of the table; the first request to any has single requests watched. */
    private Route row(String path, String summary, Operation operation, RouteHandler handler) {
        return get(path, ApiGroup.CONSOLE, summary, operation, (exchange, values) -> {
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

    private void trends(Exchange exchange) {
        String minutes = UrlText.ofQuery(exchange.query(), "minutes");
        TimeRange range = minutes.isEmpty()
                ? TimeRange.FIVE_MINUTES
                : TimeRange.ofMinutes(minutes)
                        .orElseThrow(() -> new GatunException(
                                ErrorCode.INVALID_ARGUMENT, "minutes is '" + minutes + "'; expected 5, 15 or 60"));
        send(exchange, Objects.requireNonNull(trends.get(range)));
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

    /** A version that a request is about, known or gone. */
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

    void endViewers() {
        ticks.endWaiting();
    }

    /** Ends all streams of events, also of clients that do not read, and stops sampling. */
    @Override
    public void close() {
        ticks.close();
        viewers.interrupt();
    }

    /** The open connections as JSON. Thread-safe. */
    static final class ConnectionsView {
        /** How many connections are shown. */
        private static final int SHOWN = 500;

        private final ServerSurroundings surroundings;

        ConnectionsView(ServerSurroundings surroundings) {
            this.surroundings = surroundings;
        }

        void write(JsonWriter text) {
            JsonText json = new JsonText(text);
            ServerSurroundings.ConnectionList list = surroundings.connections(SHOWN);
            json.object().array("connections");
            for (ServerSurroundings.Connection connection : list.connections()) {
                ServerSurroundings.Traffic traffic = connection.traffic();
                json.object()
                        .member("protocol", connection.protocol())
                        .member("peer", connection.peer())
                        .member("sinceMillis", connection.sinceMillis())
                        .member("requests", traffic.requests())
                        .member("inFlight", traffic.inFlight())
                        .member("bytesIn", traffic.bytesIn())
                        .member("bytesOut", traffic.bytesOut())
                        .member("tls", connection.tls())
                        .endObject();
            }
            json.endArray()
                    .member("shown", list.connections().size())
                    .member("total", list.total())
                    .endObject();
        }
    }

    /** Streams each second's news as server-sent events; slow viewers miss some. Thread-safe. */
    static final class EventRoute {
        private static final ResponseHeaders EVENTS = ResponseHeaders.of(ResponseHeaders.constant(
                "Content-Type: text/event-stream; charset=utf-8", "Cache-Control: no-store", "X-Accel-Buffering: no"));

        private final InferenceServer server;
        private final Ticks ticks;
        private final Viewers viewers;
        private final SharedText overview;
        private final ModelView models;
        private final Sampler sampler;

        EventRoute(
                InferenceServer server,
                Ticks ticks,
                Viewers viewers,
                SharedText overview,
                ModelView models,
                Sampler sampler) {
            this.server = server;
            this.ticks = ticks;
            this.viewers = viewers;
            this.overview = overview;
            this.models = models;
            this.sampler = sampler;
        }

        /** Sends events until the client leaves, another viewer takes its place, or the server is to stop. */
        void answer(Exchange exchange) {
            String model = UrlText.ofQuery(exchange.query(), "model");
            String version = UrlText.ofQuery(exchange.query(), "version");
            if (exchange.method().equals(Method.HEAD)) {
                exchange.answer(EVENTS, exchange.json());
                return;
            }
            if (ticks.hasEnded() || server.exiting()) {
                throw ServerExit.refusal();
            }
            try (Viewers.Viewer viewer = viewers.enter(exchange.network())) {
                exchange.beginPieces(EVENTS);
                for (long tick = ticks.count(); tick >= 0; tick = ticks.await(tick, viewer::isReplaced)) {
                    byte[] text = overview.get();
                    exchange.sendPiece(exchange.piece()
                            .raw("event: overview\ndata: ")
                            .raw(text, text.length)
                            .raw("\n\n"));
                    if (!model.isEmpty()) {
                        sendModel(exchange, model, version);
                    }
                    viewer.sent();
                }
                exchange.endPieces();
            }
        }

        private void sendModel(Exchange exchange, String name, String version) {
            Optional<ModelStatus> found = models.status(name, version);
            if (found.isEmpty()) {
                return; // it comes perhaps
            }
            ModelStatus status = found.get();
            JsonWriter text = exchange.piece().raw("event: model\ndata: ");
            JsonText json = new JsonText(text);
            json.object()
                    .member("name", status.name())
                    .member("version", status.version())
                    .member("state", status.state().name());
            models.writeCounts(json, status);
            models.writeFailures(json, status);
            sampler.history(status.name(), status.version(), 1).ifPresent(last -> {
                json.object("last");
                HistoryView.write(json, last);
                json.endObject();
            });
            json.endObject();
            exchange.sendPiece(text.raw("\n\n"));
        }
    }

    /** A text that is made when asked for, at most once a second. Thread-safe. */
    static final class SharedText {
        private final Ticks ticks;
        private final Consumer<JsonWriter> writing;

        /** Held while the text is made: others who ask meanwhile want the same. */
        private final ReentrantLock lock = new ReentrantLock();

        // Guarded by lock.
        private long madeAt = -1;
        private byte[] text = {};

        /** A text that {@code writing} writes, anew after each of the {@code ticks}. */
        SharedText(Ticks ticks, Consumer<JsonWriter> writing) {
            this.ticks = ticks;
            this.writing = writing;
        }

        private byte[] make() {
            // The models that are looked at are not what the request asks for that happens to come first.
            AccessEntry entry = AccessEntry.current();
            AccessEntry.unbind();
            try {
                JsonWriter json = new JsonWriter();
                writing.accept(json);
                return Arrays.copyOf(json.array(), json.size());
            } finally {
                if (entry != null) {
                    entry.bind();
                }
            }
        }

        /** The text as it is now; nobody changes it. */
        byte[] get() {
            lock.lock();
            try {
                long now = ticks.count();
                if (madeAt != now) {
                    text = make();
                    madeAt = now;
                }
                return text;
            } finally {
                lock.unlock();
            }
        }
    }
}
