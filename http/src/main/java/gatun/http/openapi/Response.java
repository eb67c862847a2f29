// SPDX-License-Identifier: Apache-2.0
package gatun.http.openapi;

import gatun.http.json.JsonWriter;
import io.helidon.http.Status;
import java.util.Map;

/** A response of one status, with a body of one of these media types; none where it has no body, or names no type. */
record Response(int status, Map<String, Schema> content) {
    private static final int FAILURES = 400;

    /** What tells it from other failures. */
    String name() {
        StringBuilder name = new StringBuilder();
        content.values().forEach(schema -> name.append(schema.name()));
        return name.append(name.isEmpty() ? "Empty" : "").append(status).toString();
    }

    /** Writes a reference to a failure, which many operations have in common; another response in place. */
    void write(JsonWriter json, Components components) {
        if (status >= FAILURES) {
            components.refer(json, this);
        } else {
            writeInPlace(json, components);
        }
    }

    void writeInPlace(JsonWriter json, Components components) {
        String reason = Status.create(status).reasonPhrase();
        json.raw("{\"description\":").string(reason.isEmpty() ? "The request failed" : reason);
        if (!content.isEmpty()) {
            json.raw(",\"content\":");
            writeContent(json, content, components);
        }
        json.raw('}');
    }

    static void writeContent(JsonWriter json, Map<String, Schema> content, Components components) {
        char separator = '{';
        for (Map.Entry<String, Schema> body : content.entrySet()) {
            json.raw(separator).string(body.getKey()).raw(":{\"schema\":");
            body.getValue().write(json, components);
            json.raw('}');
            separator = ',';
        }
        json.raw('}');
    }
}
