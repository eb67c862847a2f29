// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Names tensors as Triton's backend does ({@code ARGS[0]}, {@code RESULT[logits][1]}), by PyTorch's JSON of a call. */
final class CallSpec {
    private static final String RESULT = "RESULT";

    private CallSpec() {}

    /** The names of inputs, in their order; empty when the text is none that is known. */
    static Optional<List<String>> inputs(String json) {
        return tree(json).flatMap(tree -> {
            if (!(tree.get("children_spec") instanceof List<?> parts) || parts.size() != 2) {
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

    private static Optional<Map<?, ?>> tree(String json) {
        try {
            if (PackageJson.read(json) instanceof List<?> root
                    && root.size() == 2
                    && root.get(1) instanceof Map<?, ?> tree) {
                return Optional.of(tree);
            }
        } catch (IOException e) {
            // As any other text that is not known.
        }
        return Optional.empty();
    }

    /** Adds the names of the leaves below {@code node}; false for a kind of node that has no names. */
    private static boolean collect(@Nullable Object value, String name, List<String> names) {
        if (!(value instanceof Map<?, ?> node)) {
            return false;
        }
        Object type = node.get("type");
        if (type == null) {
            return names.add(name);
        }
        if (!(node.get("children_spec") instanceof List<?> children)) {
            return false;
        }
        List<String> keys = keys(type.toString(), node.get("context"), children.size());
        if (keys.size() != children.size()) {
            return false;
        }
        for (int i = 0; i < keys.size(); i++) {
            if (!collect(children.get(i), name + "[" + keys.get(i) + "]", names)) {
                return false;
            }
        }
        return true;
    }

    private static List<String> keys(String type, @Nullable Object context, int count) {
        List<String> keys = new ArrayList<>();
        switch (type) {
            case "builtins.tuple", "builtins.list" -> {
                for (int i = 0; i < count; i++) {
                    keys.add(Integer.toString(i));
                }
            }
            case "builtins.dict" -> {
                // A text with an array in it.
                if (array(context) instanceof List<?> array) {
                    array.forEach(key -> keys.add(String.valueOf(key)));
                }
            }
            default -> {
                // Objects of other classes: their parts have no names.
            }
        }
        return keys;
    }

    private static @Nullable Object array(@Nullable Object context) {
        try {
            return context instanceof String text ? PackageJson.read(text) : context;
        } catch (IOException e) {
            return null;
        }
    }
}
