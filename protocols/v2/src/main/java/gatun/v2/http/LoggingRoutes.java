// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import gatun.runtime.server.InferenceServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The server's log settings: reads them, and changes them from the next line on. Safe for any thread. */
final class LoggingRoutes {
    private final InferenceServer server;
    private final JsonBody jsonBody;

    LoggingRoutes(InferenceServer server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    /** Tells the settings. */
    void show(Exchange exchange) {
        LogSettings settings = server.log().settings();
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        json.raw("{\"log_file\":").string(settings.file().map(Path::toString).orElse(""));
        json.raw(",\"log_info\":").bool(settings.info());
        json.raw(",\"log_warning\":").bool(settings.warning());
        json.raw(",\"log_error\":").bool(settings.error());
        json.raw(",\"log_verbose_level\":").signed(settings.verbosity());
        json.raw(",\"log_format\":").string(settings.format().wireName());
        JsonResponse.send(exchange, json.raw('}'));
    }

    /** Changes the settings that the body names, all or none, and answers with all settings. */
    void change(Exchange exchange) {
        List<UnaryOperator<LogSettings>> changes = new ArrayList<>();
        jsonBody.readControl(exchange, json -> readMember(json, changes));
        server.log().change(before -> {
            LogSettings settings = before;
            for (UnaryOperator<LogSettings> change : changes) {
                settings = change.apply(settings);
            }
            return settings;
        });
        show(exchange);
    }

    private static void readMember(JsonReader json, List<UnaryOperator<LogSettings>> changes) {
        String name = json.name();
        if (json.peek() == JsonKind.NULL) {
            json.skipValue();
            return;
        }
        switch (name) {
            case "log_file" -> throw LogControl.fileIsFixed();
            case "log_info" -> {
                boolean logged = json.readBoolean("");
                changes.add(settings -> settings.withInfo(logged));
            }
            case "log_warning" -> {
                boolean logged = json.readBoolean("");
                changes.add(settings -> settings.withWarning(logged));
            }
            case "log_error" -> {
                boolean logged = json.readBoolean("");
                changes.add(settings -> settings.withError(logged));
            }
            case "log_verbose_level" -> {
                long level = json.readUnsigned("");
                int known = level < 0 ? Integer.MAX_VALUE : (int) Math.min(level, Integer.MAX_VALUE);
                changes.add(settings -> settings.withVerbosity(known));
            }
            case "log_format" -> {
                LogFormat format = format(json.readString(""));
                changes.add(settings -> settings.withFormat(format));
            }
            default -> json.skipValue();
        }
    }

    private static LogFormat format(String name) {
        return LogFormat.of(name)
                .orElseThrow(() ->
                        new GatunException(ErrorCode.UNAVAILABLE, "invalid argument for --log_format, got: " + name));
    }
}
