// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The tensors of a model's kernels, numbered: inputs, outputs, scratch memory. Not thread-safe. */
final class TensorTable {
    enum Kind {
        /** A tensor that requests bring. */
        INPUT,
        /** A tensor that kernels write. */
        OUTPUT,
        /** Memory without content, for the kernels of one run. */
        SCRATCH
    }

    /** A tensor; UINT8 for scratch memory. Shapes include the batch; empty where not configured, and for scratch. */
    record Entry(int number, Kind kind, String name, Datatype datatype, Optional<Shape> shape) {}

    private final List<Entry> entries = new ArrayList<>();
    private final Map<String, Entry> byName = new HashMap<>();

    /** Adds a tensor; false when there is one of that name already. */
    boolean add(Kind kind, String name, Datatype datatype, Optional<Shape> shape) {
        Entry entry = new Entry(entries.size(), kind, name, datatype, shape);
        if (byName.putIfAbsent(name, entry) != null) {
            return false;
        }
        entries.add(entry);
        return true;
    }

    Optional<Entry> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** The tensors of that kind, in the order of their numbers. */
    List<Entry> all(Kind kind) {
        return entries.stream().filter(entry -> entry.kind() == kind).toList();
    }

    int size() {
        return entries.size();
    }

    String names() {
        return entries.stream().map(Entry::name).collect(Collectors.joining(", "));
    }

    String names(Kind kind) {
        return all(kind).stream().map(Entry::name).collect(Collectors.joining(", "));
    }
}
