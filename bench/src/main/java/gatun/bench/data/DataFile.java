// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A file of requests and expected outputs, in perf_analyzer's format:
 * {@code {"data": [...], "validation_data": [...]}}. Both are lists of objects, each with tensors by their names; or
 * lists of such lists, each a sequence.
 *
 * @param file the file as it was read
 * @param data sequences of requests
 * @param expected sequences of expected outputs; empty where nothing is expected
 */
record DataFile(JsonFile file, List<List<JsonValue.Obj>> data, List<List<JsonValue.Obj>> expected) {
    /** Reads {@code path}; an object without these members is itself one request's expected outputs. */
    static DataFile read(Path path) {
        JsonFile file = JsonFile.read(path);
        if (!(file.root() instanceof JsonValue.Obj root)) {
            throw file.wrong(file.root(), "expected an object with the member 'data'");
        }
        Map<String, JsonValue> members = root.members();
        if (!members.containsKey("data") && !members.containsKey("validation_data")) {
            return new DataFile(file, List.of(), List.of(List.of(root)));
        }
        return new DataFile(file, sequences(file, root, "data"), sequences(file, root, "validation_data"));
    }

    /** The requests. */
    @Override
    public List<List<JsonValue.Obj>> data() {
        if (data.isEmpty()) {
            throw file.wrong(file.root(), "expected a member 'data' with at least one request");
        }
        return data;
    }

    private static List<List<JsonValue.Obj>> sequences(JsonFile file, JsonValue.Obj root, String member) {
        JsonValue value = root.members().get(member);
        if (value == null) {
            return List.of();
        }
        if (!(value instanceof JsonValue.Arr list)) {
            throw file.wrong(value, "'" + member + "': expected an array of objects");
        }
        List<List<JsonValue.Obj>> sequences = new ArrayList<>();
        for (JsonValue element : list.elements()) {
            switch (element) {
                case JsonValue.Obj step -> sequences.add(List.of(step));
                case JsonValue.Arr sequence -> {
                    List<JsonValue.Obj> steps = new ArrayList<>();
                    sequence.elements().forEach(step -> steps.add(object(file, step, member)));
                    if (!steps.isEmpty()) {
                        sequences.add(steps);
                    }
                }
                case JsonValue.Text other -> throw notObject(file, other, member);
                case JsonValue.Num other -> throw notObject(file, other, member);
                case JsonValue.Bool other -> throw notObject(file, other, member);
                case JsonValue.Null other -> throw notObject(file, other, member);
            }
        }
        return sequences;
    }

    private static JsonValue.Obj object(JsonFile file, JsonValue value, String member) {
        if (value instanceof JsonValue.Obj step) {
            return step;
        }
        throw notObject(file, value, member);
    }

    private static DataException notObject(JsonFile file, JsonValue value, String member) {
        return file.wrong(value, "an element of '" + member + "': expected an object of tensors by their names");
    }
}
