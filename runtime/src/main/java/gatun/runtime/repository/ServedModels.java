// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.VersionCounters;
import gatun.runtime.ensemble.MemberModels;
import gatun.runtime.execution.ServedModel;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The repository's models now: states, configurations and statistics. Thread-safe; results are snapshots. */
public final class ServedModels {
    private static final Logger LOG = LoggerFactory.getLogger(ServedModels.class);

    private final ModelTable models;
    private final ModelSources sources;

    ServedModels(ModelTable models, ModelSources sources) {
        this.models = models;
        this.sources = sources;
    }

    /** Every version that is or was loaded, and every model in the repositories that never was, by name and version. */
    public List<ModelStatus> index() {
        List<ModelStatus> index = new ArrayList<>();
        rows().map(VersionEntry::status).forEach(index::add);
        present().forEach((identifier, finding) -> {
            if (models.find(identifier)
                    .filter(known -> !known.versions().isEmpty())
                    .isEmpty()) {
                index.add(
                        switch (finding) {
                            case RepositoryScan.Finding.Conflict conflict ->
                                VersionEntry.failed(identifier.name(), "", "", conflict.reason(), Duration.ZERO)
                                        .status();
                            case RepositoryScan.Finding.Model model ->
                                unknown(model.directory().name());
                        });
            }
        });
        index.sort(Comparator.comparing(ModelStatus::name));
        return index;
    }

    /** As {@link gatun.runtime.server.InferenceServer#states}. */
    public List<ModelStatus> states() {
        return rows().map(VersionEntry::status).toList();
    }

    /** Whether every version that should be served is. One that waits for an unloaded model does not count. */
    public boolean ready() {
        return entries().allMatch(entry -> entry.versions().stream()
                .map(VersionEntry::now)
                .allMatch(row -> row.isReady() || !row.required() || asksUnloaded(entry, row)));
    }

    private boolean asksUnloaded(ModelEntry entry, VersionEntry version) {
        String namespace = entry.model().namespace();
        return version.model().stream()
                .flatMap(model -> model.dependencies().stream())
                .flatMap(name -> Stream.ofNullable(models.member(namespace, name)))
                .anyMatch(member -> member.versions().stream()
                        .allMatch(row -> (!row.isReady() && !row.required()) || asksUnloaded(member, row)));
    }

    /** As {@link gatun.runtime.server.InferenceServer#writtenConfig}. */
    public Optional<ModelConfig> writtenConfig(String name) {
        return models.named(name).stream()
                .flatMap(entry -> entry.loaded().stream())
                .map(ModelSource::config)
                .findFirst();
    }

    /** As {@link gatun.runtime.server.GatunServer#models}. */
    public Set<ModelIdentifier> models() {
        return present().keySet();
    }

    /** As {@link gatun.runtime.server.GatunServer#readyVersions}. */
    public List<ServedModel> readyVersions(ModelIdentifier model) {
        return models.find(model).stream().flatMap(ServedModels::readyVersions).toList();
    }

    private static Stream<ServedModel> readyVersions(ModelEntry entry) {
        return entry.versions().stream()
                .map(VersionEntry::now)
                .filter(VersionEntry::isReady)
                .flatMap(row -> row.model().stream());
    }

    /** The models in the repositories; none when they cannot be read, so that loaded ones are listed still. */
    private SortedMap<ModelIdentifier, RepositoryScan.Finding> present() {
        try {
            return sources.scan();
        } catch (GatunException e) {
            LOG.warn("The index lists only models that were loaded: {}", e.getMessage());
            return new TreeMap<>();
        }
    }

    private static ModelStatus unknown(String name) {
        return new ModelStatus(name, "", "", ModelState.UNKNOWN, "", Duration.ZERO);
    }

    /** The counters of every ready version, by name and version. */
    public List<ModelStatistics> statistics() {
        return ready((identifier, model) -> Optional.of(model.statistics().of(identifier)));
    }

    /** How long the requests to every ready version took, by name and version. */
    public List<ModelLatencies> latencies() {
        return ready((identifier, model) -> model.latencies().map(found -> found.of(identifier)));
    }

    /** As {@link gatun.runtime.server.InferenceServer#forEachReady}. */
    public void forEachReady(VersionCounters.Look look) {
        models.forEach(entry -> {
            List<VersionEntry> versions = entry.versions();
            for (int i = 0; !entry.departed() && i < versions.size(); i++) {
                VersionEntry version = versions.get(i);
                Optional<ServedModel> model = version.model();
                if (version.isReady()
                        && model.isPresent()
                        && model.get().unavailability().isEmpty()) {
                    look.accept(entry.model(), version.version(), model.get());
                }
            }
        });
    }

    private <T> List<T> ready(BiFunction<ModelIdentifier, ServedModel, Optional<T>> look) {
        List<T> found = new ArrayList<>();
        // Without a stream for each of thousands of models.
        entries().forEach(entry -> {
            for (VersionEntry version : entry.versions()) {
                VersionEntry now = version.now();
                if (now.isReady()) {
                    now.model()
                            .flatMap(model -> look.apply(entry.model(), model))
                            .ifPresent(found::add);
                }
            }
        });
        return Collections.unmodifiableList(found);
    }

    private Stream<VersionEntry> rows() {
        return entries().flatMap(model -> model.versions().stream()).map(VersionEntry::now);
    }

    private Stream<ModelEntry> entries() {
        return models.all().stream().filter(model -> !model.departed()).sorted(Comparator.comparing(ModelEntry::model));
    }

    /** Finds the members of an ensemble among {@code models}, first in the ensemble's {@code namespace}. */
    record RepositoryMembers(ModelTable models, String namespace) implements MemberModels {
        @Override
        public ServedModel member(String name, long version) {
            ModelEntry entry = models.member(namespace, name);
            if (entry == null) {
                throw ModelEntry.unknown(name);
            }
            return version == LATEST ? entry.latest() : entry.version(version);
        }

        @Override
        public Optional<String> missing(String ensemble, String name, long version) {
            ModelEntry member = models.member(namespace, name);
            if (member == null) {
                return Optional.of(
                        "ensemble " + ensemble + " contains models that are not available or ambiguous: " + name);
            }
            List<VersionEntry> versions = member.versions();
            boolean anyReady = false;
            boolean found = false;
            for (VersionEntry entry : versions) {
                VersionEntry now = entry.now();
                if (now.isReady()) {
                    anyReady = true;
                    found |= version == LATEST || now.version().equals(Long.toString(version));
                }
            }
            if (found) {
                return Optional.empty();
            }
            String subject = "ensemble '" + ensemble + "' depends on '" + name + "' ";
            if (anyReady) {
                return Optional.of(subject + "whose required version " + version + " is not loaded.");
            }
            Optional<String> failure = versions.stream()
                    .flatMap(entry -> entry.now().loadFailure().stream())
                    .findFirst();
            return Optional.of(subject + "which has no loaded version."
                    + failure.map(reason -> " Model '" + name + "' loading failed with error: " + reason)
                            .orElse(""));
        }
    }
}
