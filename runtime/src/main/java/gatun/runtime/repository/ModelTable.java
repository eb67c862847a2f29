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

    /** The entry of that name, made when it is missing. */
    ModelEntry entry(String name) {
        return entries.computeIfAbsent(name, ModelEntry::new);
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

    /** Forgets a name whose files are gone, once none of its versions is left. */
    void removeUnused(ModelEntry entry) {
        if (entry.versions().stream().allMatch(version -> version.model().isEmpty())) {
            entries.remove(entry.name(), entry);
            listeners.changed();
        }
    }
}
