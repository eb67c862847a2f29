// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.GeneralDecimal;
import gatun.http.json.JsonWriter;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Writes JSON with a line for each member, and for each element unless {@link #oneLineArrays} is set. Unlike {@link
 * JsonWriter}, it knows where it is: it writes commas, line ends and indents by itself. For one thread.
 */
final class IndentedJson {
    private static final int INITIAL_DEPTH = 16;

    private final JsonWriter json;
    private final int indent;
    private final GeneralDecimal decimal = new GeneralDecimal();
    /** Of each open object or array how many entries it has. */
    private int[] entries = new int[INITIAL_DEPTH];

    private boolean[] arrays = new boolean[INITIAL_DEPTH];
    private int depth;
    /** Whether a member's name was written, and its value is not. */
    private boolean named;

    private boolean oneLine;

    /** Writes to {@code json}; each level is {@code indent} blanks further to the right. */
    IndentedJson(JsonWriter json, int indent) {
        this.json = json;
        this.indent = indent;
    }

    JsonWriter text() {
        return json;
    }

    /** Sets whether elements of arrays stand behind each other; may change within an array. */
    IndentedJson oneLineArrays(boolean newOneLine) {
        oneLine = newOneLine;
        return this;
    }

    IndentedJson beginObject() {
        begin('{', false);
        return this;
    }

    IndentedJson endObject() {
        depth--;
        if (entries[depth] > 0) {
            newLine();
        }
        json.raw('}');
        return this;
    }

    IndentedJson beginArray() {
        begin('[', true);
        return this;
    }

    IndentedJson endArray() {
        depth--;
        if (entries[depth] > 0 && !oneLine) {
            newLine();
        }
        json.raw(']');
        return this;
    }

    IndentedJson name(String name) {
        if (entries[depth - 1]++ > 0) {
            json.raw(',');
        }
        newLine();
        json.string(name).raw(": ");
        named = true;
        return this;
    }

    IndentedJson string(String value) {
        prefix();
        json.string(value);
        return this;
    }

    /** Writes {@code byteSize} bytes as a string, which need not be UTF-8. */
    IndentedJson string(MemorySegment bytes, long offset, long byteSize) {
        prefix();
        json.string(bytes, offset, byteSize);
        return this;
    }

    IndentedJson signed(long value) {
        prefix();
        json.signed(value);
        return this;
    }

    /** Writes an integer whose 64 bits have no sign. */
    IndentedJson unsigned(long value) {
        prefix();
        json.unsigned(value);
        return this;
    }

    IndentedJson fp32(float value) {
        prefix();
        decimal.write(json, value);
        return this;
    }

    IndentedJson fp64(double value) {
        prefix();
        decimal.write(json, value);
        return this;
    }

    IndentedJson bool(boolean value) {
        prefix();
        json.bool(value);
        return this;
    }

    /** Begins a value that the caller writes to {@link #text} as it is. */
    JsonWriter raw() {
        prefix();
        return json;
    }

    private void begin(char bracket, boolean array) {
        prefix();
        if (depth == entries.length) {
            entries = Arrays.copyOf(entries, 2 * depth);
            arrays = Arrays.copyOf(arrays, 2 * depth);
        }
        entries[depth] = 0;
        arrays[depth++] = array;
        json.raw(bracket);
    }

    /** Writes the comma, line end and indent before the next value. */
    private void prefix() {
        if (named) {
            named = false;
            return;
        }
        if (depth == 0 || !arrays[depth - 1]) {
            return;
        }
        if (entries[depth - 1]++ > 0) {
            json.raw(oneLine ? ", " : ",");
        }
        if (!oneLine) {
            newLine();
        }
    }

    private void newLine() {
        json.raw('\n');
        for (int i = depth * indent; i > 0; i--) {
            json.raw(' ');
        }
    }
}
