// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ListedModel;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelVersionPolicy;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The models that are served because a list names them. Safe for any thread; replaced as a whole. */
final class ModelList {
    private volatile SortedMap<String, ListedModel> models = new TreeMap<>();

    /** Replaces the list. */
    void replace(List<ListedModel> listed) {
        SortedMap<String, ListedModel> next = new TreeMap<>();
        listed.forEach(model -> next.put(model.name(), model));
        models = next;
    }

    /** The list by name; never changed. */
    SortedMap<String, ListedModel> models() {
        return models;
    }

    /** The configuration with the versions that the list says. */
    ModelConfig apply(ModelConfig config) {
        ListedModel model = models.get(config.getName());
        return model == null || model.versions().equals(ModelVersionPolicy.getDefaultInstance())
                ? config
                : config.toBuilder().setVersionPolicy(model.versions()).build();
    }

    /** Adds the listed models to what was found in the repositories. */
    SortedMap<String, RepositoryScan.Finding> addTo(SortedMap<String, RepositoryScan.Finding> found) {
        models.forEach((name, model) -> found.merge(
                name,
                new RepositoryScan.Finding.Model(ModelDirectory.listed(name, model.directory())),
                (first, second) -> new RepositoryScan.Finding.Conflict(
                        "model '" + name + "' appears in a model repository and in the list of models; remove one")));
        return found;
    }
}
