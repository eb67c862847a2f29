// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.GatunException;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.TraceSettings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The trace settings of all models and of single ones: reads and changes them. Safe for any thread. */
final class TraceRoutes {
    private static final String LEVELS = "trace_level";
    private static final String COUNT = "trace_count";

    /** The settings that a request may name; other members are ignored. */
    private static final Set<String> SETTINGS = Set.of(LEVELS, "trace_rate", COUNT, "log_frequency", "trace_file");

    private final InferenceService server;
    private final JsonBody jsonBody;

    TraceRoutes(InferenceService server, JsonBody jsonBody) {
        this.server = server;
        this.jsonBody = jsonBody;
    }

    void show(Exchange exchange) {
        show(exchange, "");
    }

    void change(Exchange exchange) {
        change(exchange, "");
    }

    void showModel(Exchange exchange, String model) {
        requireReady(model);
        show(exchange, model);
    }

    void changeModel(Exchange exchange, String model) {
        requireReady(model);
        change(exchange, model);
    }

    private void requireReady(String model) {
        if (server.unreadiness(model, "").isPresent()) {
            throw GatunException.invalidArgument(TraceSettings.UNKNOWN_MODEL + model);
        }
    }

    private void show(Exchange exchange, String model) {
        JsonWriter json = exchange.json(JsonResponse.HEADERS);
        char separator = '{';
        for (Map.Entry<String, List<String>> setting :
                server.tracing().settings(model).entrySet()) {
            json.raw(separator).string(setting.getKey()).raw(':');
            if (setting.getKey().equals(LEVELS)) {
                writeArray(json, setting.getValue());
            } else {
                json.string(setting.getValue().getFirst());
            }
            separator = ',';
        }
        JsonResponse.send(exchange, json.raw('}'));
    }

    private static void writeArray(JsonWriter json, List<String> texts) {
        char separator = '[';
        for (String text : texts) {
            json.raw(separator).string(text);
            separator = ',';
        }
        json.raw(']');
    }

    private void change(Exchange exchange, String model) {
        Map<String, List<String>> changes = new LinkedHashMap<>();
        jsonBody.readControl(exchange, json -> {
            String name = json.name();
            if (SETTINGS.contains(name) && !changes.containsKey(name)) {
                changes.put(name, values(json));
            } else {
                json.skipValue();
            }
        });
        checkCount(changes.getOrDefault(COUNT, List.of()));
        server.tracing().change(model, changes);
        show(exchange, model);
    }

    /** Refuses values as the settings would, but with HTTP's text, without a blank before the number. */
    private static void checkCount(List<String> texts) {
        for (String text : texts) {
            try {
                if (Integer.parseInt(text) < TraceSettings.UNLIMITED) {
                    throw GatunException.invalidArgument(
                            "Unable to parse 'trace_count'. Expecting value >= -1, got:" + text);
                }
            } catch (NumberFormatException e) {
                // No number: the settings say so.
            }
        }
    }

    /** A text, several of them, or for null none, which takes the setting back. */
    private static List<String> values(JsonReader json) {
        return switch (json.peek()) {
            case NULL -> {
                json.skipValue();
                yield List.of();
            }
            case ARRAY -> {
                List<String> texts = new ArrayList<>();
                json.enterArray("");
                while (json.nextElement()) {
                    texts.add(json.readString(""));
                }
                yield texts;
            }
            case STRING, NUMBER, BOOLEAN, OBJECT -> List.of(json.readString(""));
        };
    }
}
