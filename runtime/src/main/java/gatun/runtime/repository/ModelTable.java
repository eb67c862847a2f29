// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The names that the server knows, each with its versions. Safe for any thread. */
final class ModelTable {
    /** How many names whose files are gone stay known: more than anybody asks for again, and not one for each that ever was. */
    private static final int REMEMBERED = 1000;

    private final Map<String, ModelEntry> entries = new ConcurrentHashMap<>();
    private final ChangeListeners listeners;

    /** An empty table. */
    ModelTable(ChangeListeners listeners) {
        this.listeners = listeners;
    }

    /** The listeners to changes of entries. */
    ChangeListeners listeners() {
        return listeners;
    }

    Optional<ModelEntry> find(String name) {
        return Optional.ofNullable(get(name));
    }

    /** As {@link #find}, without an object for each request. */
    @Nullable
    ModelEntry get(String name) {
        return entries.get(name);
    }

    /** The entry of that name, made when it is missing; its files are there. */
    ModelEntry entry(String name) {
        ModelEntry entry = entries.computeIfAbsent(name, ModelEntry::new);
        entry.departed(false);
        return entry;
    }

    /** How many entries there are. */
    int size() {
        return entries.size();
    }

    /** Every entry, in no order. */
    Collection<ModelEntry> all() {
        return List.copyOf(entries.values());
    }

    /** The models that ask the model of that name, or tried to. */
    List<ModelEntry> dependents(String name) {
        return entries.values().stream()
                .filter(entry -> entry.attempted()
                        .map(source -> source.dependencies().contains(name))
                        .orElse(false))
                .toList();
    }

    /**
     * Takes a name whose files are gone out of the index, once none of its versions is left. A name that had versions
     * stays known, as in Triton: who asks for it learns that it has none any more.
     */
    void removeUnused(ModelEntry entry) {
        if (entry.departed()
                || entry.versions().stream().anyMatch(version -> version.model().isPresent())) {
            return;
        }
        long departed = entries.values().stream().filter(ModelEntry::departed).count();
        if (entry.versions().isEmpty() || departed >= REMEMBERED) {
            entries.remove(entry.name(), entry);
        } else {
            entry.departed(true);
        }
        listeners.changed();
    }
}
