// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import java.util.List;
import java.util.Map;

/** A value of a JSON file, and the line on which it begins, for error texts. */
public sealed interface JsonValue {
    /** The line on which it begins, from 1. */
    int line();

    /** An object; of members with the same name the last counts. */
    record Obj(Map<String, JsonValue> members, int line) implements JsonValue {}

    /** An array. */
    record Arr(List<JsonValue> elements, int line) implements JsonValue {}

    /** A string. */
    record Text(String value, int line) implements JsonValue {}

    /** A number, as it is written; NaN and Infinity are numbers, too. */
    record Num(String text, int line) implements JsonValue {}

    /** True or false. */
    record Bool(boolean value, int line) implements JsonValue {}

    /** Null. */
    record Null(int line) implements JsonValue {}
}
