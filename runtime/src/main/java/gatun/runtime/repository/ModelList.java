// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelVersionPolicy;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** The models that are served because a list names them. Safe for any thread; replaced as a whole. */
final class ModelList {
    private final ReentrantLock changing = new ReentrantLock();

    /** Replaced under the lock. */
    private volatile SortedMap<String, ListedModel> listed = new TreeMap<>();

    void replace(List<ListedModel> models) {
        change(next -> {
            next.clear();
            models.forEach(model -> next.put(model.name(), model));
        });
    }

    /** Adds models to the list. Throws ALREADY_EXISTS for a name in it; nothing is changed then. */
    void add(List<ListedModel> models) {
        change(next -> {
            for (ListedModel model : models) {
                if (next.putIfAbsent(model.name(), model) != null) {
                    throw conflict(model.name());
                }
            }
        });
    }

    void remove(Collection<String> names) {
        change(next -> next.keySet().removeAll(names));
    }

    private void change(Consumer<SortedMap<String, ListedModel>> change) {
        changing.lock();
        try {
            SortedMap<String, ListedModel> next = new TreeMap<>(listed);
            change.accept(next);
            listed = next;
        } finally {
            changing.unlock();
        }
    }

    static GatunException conflict(String name) {
        return new GatunException(
                ErrorCode.ALREADY_EXISTS,
                "failed to register '" + name + "', there is a conflicting mapping for '" + name + "'");
    }

    /** The list by name; never changed. */
    SortedMap<String, ListedModel> models() {
        return listed;
    }

    /** The configuration with the versions that the list says. */
    ModelConfig apply(ModelConfig config) {
        ListedModel model = models().get(config.getName());
        return model == null || model.versions().equals(ModelVersionPolicy.getDefaultInstance())
                ? config
                : config.toBuilder().setVersionPolicy(model.versions()).build();
    }

    SortedMap<ModelIdentifier, RepositoryScan.Finding> addTo(SortedMap<ModelIdentifier, RepositoryScan.Finding> found) {
        models().forEach((name, model) -> found.merge(
                ModelIdentifier.of(name),
                new RepositoryScan.Finding.Model(ModelDirectory.listed(name, model.directory())),
                (first, second) -> new RepositoryScan.Finding.Conflict(
                        "model '" + name + "' appears in a model repository and in the list of models; remove one")));
        return found;
    }
}
