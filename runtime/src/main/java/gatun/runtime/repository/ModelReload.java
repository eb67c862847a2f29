// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.execution.ServedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes what serves under a name without a gap: new versions load beside the old ones, requests switch at once, then
 * the old ones finish and go; they stay when a new one fails. For one change of a model at a time.
 */
final class ModelReload {
    private static final Logger LOG = LoggerFactory.getLogger(ModelReload.class);

    private final ModelLoader loader;
    private final Unloader unloader;
    private final ChangeListeners listeners;
    private final boolean logged;

    /** @param logged whether the log tells which versions come and go; it tells failures in any case */
    ModelReload(ModelLoader loader, Unloader unloader, ChangeListeners listeners, boolean logged) {
        this.loader = loader;
        this.unloader = unloader;
        this.listeners = listeners;
        this.logged = logged;
    }

    /**
     * Changes a model to {@code source}, whose files it takes over. Unchanged versions go on; an overriding
     * configuration stays until its files change. Returns the results of loaded versions; none when unchanged.
     */
    List<ModelLoader.Result> load(ModelEntry entry, ModelSource source) {
        Optional<ModelSource> previous = entry.loaded();
        if (previous.map(source::isOverriddenBy).orElse(false)) {
            return List.of();
        }
        boolean sameBase = previous.isPresent() && source.hasBaseOf(previous.get());
        SortedMap<Long, VersionEntry> serving = serving(entry);
        SortedSet<Long> loading = new TreeSet<>(source.versions().keySet());
        if (sameBase) {
            loading.removeIf(version -> serving.containsKey(version)
                    && serving.get(version).isCurrent()
                    && Objects.equals(
                            source.versions().get(version),
                            previous.get().versions().get(version)));
            if (loading.isEmpty()
                    && !source.versions().isEmpty()
                    && source.versions().keySet().containsAll(serving.keySet())) {
                entry.loaded(Optional.of(source));
                return List.of();
            }
        }
        if (previous.isPresent()
                && source.isSameButForInstances(previous.get())
                && serving.keySet().equals(source.versions().keySet())) {
            Optional<List<ModelLoader.Result>> adjusted = loader.adjustInstances(source, serving.values());
            if (adjusted.isPresent()) {
                keep(entry, source, adjusted.get());
                return adjusted.get();
            }
        }
        announce(entry, loading, serving);
        List<ModelLoader.Result> results =
                loading.isEmpty() && !source.versions().isEmpty() ? List.of() : loader.load(source, loading, entry);
        log(entry.model(), results);
        boolean failed = results.stream().anyMatch(result -> result.failure().isPresent());
        if (failed && !serving.isEmpty() && !sameBase) {
            abandon(entry, source, results);
        } else {
            commit(entry, source, results, serving, failed);
        }
        return results;
    }

    private static SortedMap<Long, VersionEntry> serving(ModelEntry entry) {
        SortedMap<Long, VersionEntry> serving = new TreeMap<>();
        for (VersionEntry version : entry.versions()) {
            if (version.isReady()) {
                serving.put(Long.parseLong(version.version()), version);
            }
        }
        return serving;
    }

    private void log(ModelIdentifier model, List<ModelLoader.Result> results) {
        for (ModelLoader.Result result : results) {
            VersionEntry version = result.entry();
            if (result.failure().isPresent()) {
                String which = version.version().isEmpty() ? "" : " version " + version.version();
                LOG.warn("Model '{}'{} cannot be loaded: {}", model, which, version.reason());
            } else if (version.version().isEmpty()) {
                LOG.warn("Model '{}' {}", model, version.reason());
            } else if (logged) {
                LOG.info(
                        "Model '{}' version {} is ready after {} ms",
                        model,
                        version.version(),
                        version.status().loadTime().toMillis());
            }
        }
    }

    /** Shows what is being loaded and does not serve yet. */
    private void announce(ModelEntry entry, SortedSet<Long> loading, SortedMap<Long, VersionEntry> serving) {
        entry.update(before -> {
            Map<String, VersionEntry> rows = rows(before);
            for (long version : loading) {
                if (!serving.containsKey(version)) {
                    VersionEntry row = VersionEntry.loading(entry.name(), Long.toString(version));
                    rows.put(row.version(), serving.isEmpty() ? row : row.optional());
                }
            }
            if (!loading.isEmpty()) {
                rows.remove("");
            }
            return ascending(rows);
        });
        listeners.changed();
    }

    /** Keeps the serving versions, each with the result for its instances. */
    private void keep(ModelEntry entry, ModelSource source, List<ModelLoader.Result> results) {
        entry.update(before -> {
            Map<String, VersionEntry> rows = rows(before);
            results.forEach(result -> rows.replace(result.entry().version(), result.entry()));
            return ascending(rows);
        });
        List<GatunException> failures =
                results.stream().flatMap(result -> result.failure().stream()).toList();
        if (failures.isEmpty()) {
            entry.loaded(Optional.of(source));
        } else {
            entry.attempted(source);
            LOG.warn(
                    "Model '{}' keeps its instances: {}",
                    entry.model(),
                    failures.getFirst().getMessage());
        }
        listeners.changed();
    }

    /** Leaves everything as it was, but for the reasons. */
    private void abandon(ModelEntry entry, ModelSource source, List<ModelLoader.Result> results) {
        String reason = results.stream()
                .flatMap(result -> result.failure().stream())
                .findFirst()
                .map(Throwable::getMessage)
                .orElse("");
        entry.update(before -> {
            Map<String, VersionEntry> rows = rows(before);
            for (ModelLoader.Result result : results) {
                VersionEntry tried = result.entry();
                VersionEntry old = rows.get(tried.version());
                String why = tried.isReady() ? "another version failed: " + reason : tried.reason();
                if (old != null && old.isReady()) {
                    rows.put(old.version(), old.because(why));
                } else if (tried.version().isEmpty()) {
                    rows.replaceAll((version, row) -> row.isReady() ? row.because(why) : row);
                } else {
                    rows.put(
                            tried.version(),
                            VersionEntry.failed(
                                            entry.name(),
                                            tried.version(),
                                            tried.status().engine(),
                                            why,
                                            tried.status().loadTime())
                                    .optional());
                }
            }
            return ascending(rows);
        });
        entry.attempted(source);
        List<ServedModel> unused = results.stream()
                .flatMap(result -> result.entry().model().stream())
                .toList();
        unloader.end(unused, source::discard);
        listeners.changed();
    }

    /** Puts the new versions into service, and ends those that they replace and those not wanted any more. */
    private void commit(
            ModelEntry entry,
            ModelSource source,
            List<ModelLoader.Result> results,
            SortedMap<Long, VersionEntry> serving,
            boolean failed) {
        List<ServedModel> replaced = new ArrayList<>();
        List<VersionEntry> dropped = new ArrayList<>();
        entry.update(before -> {
            Map<String, VersionEntry> rows = rows(before);
            for (ModelLoader.Result result : results) {
                VersionEntry next = result.entry();
                VersionEntry old = rows.get(next.version());
                if (old != null && old.isReady()) {
                    if (!next.isReady()) {
                        rows.put(old.version(), old.because(next.reason()));
                        continue;
                    }
                    replaced.addAll(old.model().stream().toList());
                }
                rows.put(next.version(), next.isReady() || serving.isEmpty() ? next : next.optional());
            }
            if (source.versions().isEmpty()) {
                return ascending(rows);
            }
            for (VersionEntry row : before) {
                boolean chosen =
                        !row.version().isEmpty() && source.versions().containsKey(Long.parseLong(row.version()));
                if (chosen || (failed && row.isReady())) {
                    continue;
                }
                if (row.isReady()) {
                    dropped.add(row);
                    rows.put(row.version(), row.unloading());
                } else if (row.model().isEmpty()
                        && (row.version().isEmpty() || !source.present().contains(Long.parseLong(row.version())))) {
                    rows.remove(row.version());
                }
            }
            return ascending(rows);
        });
        Optional<ModelSource> previous = entry.loaded();
        entry.loaded(Optional.of(source));
        List<ServedModel> ending = new ArrayList<>(replaced);
        dropped.forEach(row -> row.model().ifPresent(ending::add));
        unloader.end(ending, () -> {
            previous.filter(old -> !source.hasBaseOf(old)).ifPresent(ModelSource::discard);
            gone(entry, dropped);
        });
        listeners.changed();
    }

    /** Ends the loads of a model, and refuses others until the result is closed. */
    LoadAttempts.Ending endLoads(ModelEntry entry) {
        return loader.attempts().end(entry.model());
    }

    /** Takes a model out of service; {@code afterwards} is called when its last version has ended. */
    void unload(ModelEntry entry, Runnable afterwards) {
        List<VersionEntry> ending = new ArrayList<>();
        Optional<ModelSource> previous = entry.loaded();
        entry.update(before -> {
            List<VersionEntry> rows = new ArrayList<>();
            for (VersionEntry row : before) {
                if (row.isReady()) {
                    ending.add(row);
                    rows.add(row.unloading());
                } else if (row.model().isPresent()) {
                    rows.add(row);
                } else if (!row.version().isEmpty()) {
                    rows.add(loader.attempts()
                            .abandonment(entry.model(), row.version())
                            .map(reason -> row.because(reason).optional())
                            .orElseGet(row::gone));
                }
            }
            return rows;
        });
        entry.loaded(Optional.empty());
        List<ServedModel> models =
                ending.stream().flatMap(row -> row.model().stream()).toList();
        if (logged && !models.isEmpty()) {
            LOG.info("Model '{}' is unloaded as soon as its running requests have ended", entry.model());
        }
        unloader.end(models, () -> {
            previous.ifPresent(ModelSource::discard);
            gone(entry, ending);
            afterwards.run();
        });
        listeners.changed();
    }

    /** Shows that versions have ended, unless others have taken their place meanwhile. */
    private void gone(ModelEntry entry, List<VersionEntry> ended) {
        if (ended.isEmpty()) {
            return;
        }
        entry.update(before -> before.stream()
                .map(row -> !row.isReady()
                                && ended.stream().anyMatch(old -> row.model().equals(old.model()))
                        ? row.gone()
                        : row)
                .toList());
        listeners.changed();
    }

    private static Map<String, VersionEntry> rows(List<VersionEntry> versions) {
        Map<String, VersionEntry> rows = new TreeMap<>();
        versions.forEach(version -> rows.put(version.version(), version));
        return rows;
    }

    private static List<VersionEntry> ascending(Map<String, VersionEntry> rows) {
        List<VersionEntry> versions = new ArrayList<>(rows.values());
        versions.sort((a, b) -> Long.compare(number(a), number(b)));
        return versions;
    }

    private static long number(VersionEntry row) {
        return row.version().isEmpty() ? -1 : Long.parseLong(row.version());
    }
}
