// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.history.History;
import gatun.console.history.Series;
import gatun.console.history.SlowRequest;
import gatun.console.history.TimeRange;
import gatun.console.history.Trends;
import java.util.List;

/** Writes what was, up to an hour ago, as JSON. */
final class HistoryView {
    private static final long STEP_MILLIS = 1000;

    private HistoryView() {}

    static void write(JsonText json, History history) {
        json.member("stepMillis", STEP_MILLIS)
                .member("endMillis", history.endMillis())
                .member("points", history.points())
                .object("series");
        for (Series series : Series.values()) {
            json.array(series.key());
            for (int i = 0; i < history.points(); i++) {
                json.element(history.value(series, i));
            }
            json.endArray();
        }
        json.endObject().object("byTransport");
        for (String transport : history.transports()) {
            json.object(transport).array(Series.REQUESTS_PER_SECOND.key());
            for (int i = 0; i < history.points(); i++) {
                json.element(history.rate(transport, i));
            }
            json.endArray().array(Series.P50_NANOS.key());
            for (int i = 0; i < history.points(); i++) {
                json.element(history.median(transport, i));
            }
            json.endArray().endObject();
        }
        json.endObject();
    }

    /** Writes a range of time of the server and its busiest versions. */
    static void write(JsonText json, Trends trends) {
        json.object()
                .member("minutes", trends.range().minutes())
                .member("endMillis", trends.server().endMillis())
                .object("server");
        writeTrend(json, trends.range(), trends.server());
        json.endObject().array("versions");
        for (Trends.VersionTrend version : trends.versions()) {
            json.object().member("name", version.model()).member("version", version.version());
            writeTrend(json, trends.range(), version.history());
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static void writeTrend(JsonText json, TimeRange range, History history) {
        json.member("stepMillis", range.stepMillis(history.points()))
                .member("points", history.points())
                .object("series");
        for (Series series : Trends.SHOWN) {
            json.array(series.key());
            for (int i = 0; i < history.points(); i++) {
                json.element(history.value(series, i));
            }
            json.endArray();
        }
        json.endObject();
    }

    static void write(JsonText json, List<SlowRequest> requests) {
        json.array("requests");
        for (SlowRequest request : requests) {
            json.object()
                    .member("id", Long.toString(request.number()))
                    .member("requestId", request.requestId())
                    .member("atMillis", request.atMillis())
                    .member("protocol", request.protocol())
                    .member("transport", request.transport())
                    .member("batchSize", request.batchSize());
            if (request.bytesIn() >= 0) {
                json.member("bytesIn", request.bytesIn());
            }
            if (request.bytesOut() >= 0) {
                json.member("bytesOut", request.bytesOut());
            }
            json.member("totalNanos", request.totalNanos()).array("stages");
            SlowRequest.Stages stages = request.stages();
            long at = writeStage(json, "read", 0, stages.read());
            at = writeStage(json, "queue", at, stages.queue());
            at = writeStage(json, "computeInput", at, stages.computeInput());
            at = writeStage(json, "computeInfer", at, stages.computeInfer());
            writeStage(json, "computeOutput", at, stages.computeOutput());
            writeStage(json, "write", request.totalNanos() - stages.write(), stages.write());
            json.endArray();
            if (!request.traceId().isEmpty()) {
                json.member("traceId", request.traceId());
            }
            json.endObject();
        }
        json.endArray();
    }

    private static long writeStage(JsonText json, String name, long start, long nanos) {
        json.object()
                .member("name", name)
                .member("startNanos", start)
                .member("nanos", nanos)
                .endObject();
        return start + nanos;
    }
}
