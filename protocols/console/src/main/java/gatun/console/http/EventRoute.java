// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.history.Sampler;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.routes.UrlText;
import gatun.runtime.ModelStatus;
import gatun.runtime.ServerExit;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.Method;
import java.util.Optional;

/**
 * Streams what happens as server-sent events, each second what is new then. A viewer that reads slowly misses some, and
 * makes nobody wait. Safe for any thread.
 */
final class EventRoute {
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

    /** Answers with events until the client leaves, another viewer takes its place, or the server is told to stop. */
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
        sampler.history(status.name(), status.version(), 1).ifPresent(last -> {
            json.object("last");
            HistoryView.write(json, last);
            json.endObject();
        });
        json.endObject();
        exchange.sendPiece(text.raw("\n\n"));
    }
}
