// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Names a model's tensors by how its Python function took and gave them, as Triton's backend does: {@code ARGS[0]},
 * {@code KWARGS[mask]}, {@code RESULT[logits][1]}. Reads the JSON that PyTorch writes of it, a version and a tree whose
 * leaves are tensors.
 */
final class CallSpec {
    private static final String RESULT = "RESULT";

    private CallSpec() {}

    /** The names of inputs, in their order; empty when the text is none that is known. */
    static Optional<List<String>> inputs(String json) {
        return tree(json).flatMap(tree -> {
            JsonArray parts = tree.getAsJsonArray("children_spec");
            if (parts == null || parts.size() != 2) {
                return Optional.empty();
            }
            List<String> names = new ArrayList<>();
            boolean known = collect(parts.get(0), "ARGS", names) && collect(parts.get(1), "KWARGS", names);
            return known ? Optional.of(names) : Optional.empty();
        });
    }

    /** The names of outputs, in their order; empty when the text is none that is known. */
    static Optional<List<String>> outputs(String json) {
        return tree(json).flatMap(tree -> {
            List<String> names = new ArrayList<>();
            return collect(tree, RESULT, names) ? Optional.of(names) : Optional.empty();
        });
    }

    private static Optional<JsonObject> tree(String json) {
        try {
            JsonElement root = JsonParser.parseString(json);
            if (root.isJsonArray()
                    && root.getAsJsonArray().size() == 2
                    && root.getAsJsonArray().get(1).isJsonObject()) {
                return Optional.of(root.getAsJsonArray().get(1).getAsJsonObject());
            }
        } catch (RuntimeException | StackOverflowError e) {
            // No JSON, or none that ends: as any other text that is not known.
        }
        return Optional.empty();
    }

    /** Adds the names of the leaves below {@code node}; false for a kind of node that has no names. */
    private static boolean collect(JsonElement node, String name, List<String> names) {
        if (!node.isJsonObject()) {
            return false;
        }
        JsonElement type = node.getAsJsonObject().get("type");
        if (type == null || type.isJsonNull()) {
            return names.add(name);
        }
        JsonElement children = node.getAsJsonObject().get("children_spec");
        List<String> keys = children != null && children.isJsonArray()
                ? keys(
                        type.getAsString(),
                        node.getAsJsonObject().get("context"),
                        children.getAsJsonArray().size())
                : List.of();
        if (children == null
                || !children.isJsonArray()
                || keys.size() != children.getAsJsonArray().size()) {
            return false;
        }
        for (int i = 0; i < keys.size(); i++) {
            if (!collect(children.getAsJsonArray().get(i), name + "[" + keys.get(i) + "]", names)) {
                return false;
            }
        }
        return true;
    }

    private static List<String> keys(String type, JsonElement context, int count) {
        List<String> keys = new ArrayList<>();
        switch (type) {
            case "builtins.tuple", "builtins.list" -> {
                for (int i = 0; i < count; i++) {
                    keys.add(Integer.toString(i));
                }
            }
            case "builtins.dict" -> {
                // A text with an array in it.
                JsonElement array = context != null && context.isJsonPrimitive()
                        ? JsonParser.parseString(context.getAsString())
                        : context;
                if (array != null && array.isJsonArray()) {
                    array.getAsJsonArray().forEach(key -> keys.add(key.getAsString()));
                }
            }
            default -> {
                // Objects of other classes: their parts have no names.
            }
        }
        return keys;
    }
}
