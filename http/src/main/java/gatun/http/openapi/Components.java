// SPDX-License-Identifier: Apache-2.0
package gatun.http.openapi;

import gatun.http.json.JsonWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The schemas and failures that a description refers to, each written once. For one description. */
public final class Components {
    private final List<Schema> schemas = new ArrayList<>();
    private final List<Response> failures = new ArrayList<>();
    private final Set<String> names = new HashSet<>();

    /** None yet. */
    public Components() {}

    void refer(JsonWriter json, Schema schema) {
        refer(json, "schemas", schema.name(), () -> schemas.add(schema));
    }

    void refer(JsonWriter json, Response failure) {
        refer(json, "responses", failure.name(), () -> failures.add(failure));
    }

    private void refer(JsonWriter json, String section, String name, Runnable first) {
        String reference = "#/components/" + section + "/" + name;
        json.raw("{\"$ref\":").string(reference).raw('}');
        if (names.add(reference)) {
            first.run();
        }
    }

    /** Writes all that was referred to. */
    public void write(JsonWriter json) {
        json.raw("{\"responses\":{");
        for (int i = 0; i < failures.size(); i++) {
            json.raw(i == 0 ? "" : ",").string(failures.get(i).name()).raw(':');
            failures.get(i).writeInPlace(json, this);
        }
        json.raw("},\"schemas\":{");
        // More join while these are written, which refer to them.
        for (int i = 0; i < schemas.size(); i++) {
            json.raw(i == 0 ? "" : ",").string(schemas.get(i).name()).raw(':');
            schemas.get(i).writeInPlace(json, this);
        }
        json.raw("}}");
    }
}
