// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The versions of labels of listed models. A label moves once its new version serves. Thread-safe. */
final class VersionLabels {
    private static final Logger LOG = LoggerFactory.getLogger(VersionLabels.class);

    private record Label(String model, String name) {}

    private final ModelList list;
    private final ModelTable models;
    private final ReentrantLock changing = new ReentrantLock();

    /** Labels whose listed version does not serve yet, with the one that serves meanwhile. Changed under the lock. */
    private final Map<Label, Long> staying = new ConcurrentHashMap<>();

    VersionLabels(ModelList list, ModelTable models) {
        this.list = list;
        this.models = models;
    }

    /** Replaces the list, and keeps labels from moving to versions that do not serve. */
    void replaceList(List<ListedModel> next) {
        changing.lock();
        try {
            Map<Label, Long> kept = new HashMap<>();
            for (ListedModel model : next) {
                model.labels().forEach((name, version) -> {
                    OptionalLong before = version(model.name(), name);
                    if (before.isPresent() && before.getAsLong() != version && !serves(model.name(), version)) {
                        kept.put(new Label(model.name(), name), before.getAsLong());
                    }
                });
            }
            // In this order, so that a request that looks meanwhile finds a version that serves.
            staying.putAll(kept);
            list.replace(next);
            staying.keySet().retainAll(kept.keySet());
        } finally {
            changing.unlock();
        }
    }

    /** The version that a label stands for now; empty when there is no such label. */
    OptionalLong version(String model, String label) {
        Optional<Long> named = named(model, label);
        if (named.isEmpty()) {
            return OptionalLong.empty();
        }
        Long stays = staying.isEmpty() ? null : staying.get(new Label(model, label));
        return OptionalLong.of(stays == null || serves(model, named.get()) ? named.get() : stays);
    }

    /** Moves the labels whose versions serve now; to be called after each change of a version. */
    void settle() {
        if (staying.isEmpty()) {
            return;
        }
        changing.lock();
        try {
            staying.keySet().removeIf(label -> {
                Optional<Long> version =
                        named(label.model(), label.name()).filter(named -> serves(label.model(), named));
                version.ifPresent(moved -> LOG.info(
                        "The label '{}' of model '{}' stands for version {} now", label.name(), label.model(), moved));
                return version.isPresent();
            });
        } finally {
            changing.unlock();
        }
    }

    /** Tells the operator which labels have not moved, and why. */
    void warnOfStaying() {
        staying.forEach((label, version) -> named(label.model(), label.name())
                .ifPresent(named -> LOG.warn(
                        "The label '{}' of model '{}' stays with version {} until version {} serves: {}",
                        label.name(),
                        label.model(),
                        version,
                        named,
                        row(label.model(), named)
                                .map(VersionEntry::reason)
                                .orElse("there is no such version, or the list's policy leaves it out"))));
    }

    private Optional<Long> named(String model, String label) {
        return Optional.ofNullable(list.models().get(model))
                .map(listed -> listed.labels().get(label));
    }

    private boolean serves(String model, long version) {
        return row(model, version).map(VersionEntry::isReady).orElse(false);
    }

    private Optional<VersionEntry> row(String model, long version) {
        String text = Long.toString(version);
        return models.find(ModelIdentifier.of(model)).flatMap(entry -> entry.versions().stream()
                .filter(row -> row.version().equals(text))
                .findFirst());
    }
}
