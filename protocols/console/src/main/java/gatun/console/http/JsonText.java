// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.http.json.JsonWriter;

/** Writes JSON with its commas, into a writer that knows none. For one thread. */
final class JsonText {
    private static final double ROUNDING = 1000;

    private final JsonWriter json;
    private boolean first = true;

    JsonText(JsonWriter json) {
        this.json = json;
    }

    private void comma() {
        if (!first) {
            json.raw(',');
        }
        first = false;
    }

    private JsonText name(String name) {
        comma();
        json.raw('"').raw(name).raw("\":");
        return this;
    }

    JsonText object() {
        comma();
        json.raw('{');
        first = true;
        return this;
    }

    JsonText object(String name) {
        name(name);
        json.raw('{');
        first = true;
        return this;
    }

    JsonText endObject() {
        json.raw('}');
        first = false;
        return this;
    }

    JsonText array(String name) {
        name(name);
        json.raw('[');
        first = true;
        return this;
    }

    JsonText endArray() {
        json.raw(']');
        first = false;
        return this;
    }

    JsonText member(String name, String value) {
        name(name);
        json.string(value);
        return this;
    }

    JsonText member(String name, long value) {
        name(name);
        json.signed(value);
        return this;
    }

    JsonText member(String name, boolean value) {
        name(name);
        json.bool(value);
        return this;
    }

    JsonText member(String name, double value) {
        name(name);
        json.fp64(Math.round(value * ROUNDING) / ROUNDING);
        return this;
    }

    JsonText element(String value) {
        comma();
        json.string(value);
        return this;
    }

    JsonText element(long value) {
        comma();
        json.signed(value);
        return this;
    }

    /** An element of an array; null for what is not a number. Large ones have no places behind the point. */
    JsonText element(float value) {
        comma();
        if (Float.isNaN(value)) {
            json.raw("null");
        } else if (value == Math.rint(value)) {
            json.signed((long) value);
        } else {
            json.fp64(Math.round(value * ROUNDING) / ROUNDING);
        }
        return this;
    }
}
