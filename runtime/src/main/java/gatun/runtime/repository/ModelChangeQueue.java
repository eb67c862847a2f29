// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.repository.RepositoryScan.Finding;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Orders loads and unloads: a model loads after those that it asks, and unloads after the loads that ask it. A change
 * waits only for earlier ones, so none can wait for itself. Thread-safe; no method waits for a change.
 */
final class ModelChangeQueue {
    private static final Logger LOG = LoggerFactory.getLogger(ModelChangeQueue.class);

    /** How long an unload waits for loads that ask the model, and may wait themselves for one that never ends. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final ModelSources sources;
    private final ModelTable models;
    private final LoadThreads threads;
    private final ModelReload reload;

    /** Held from looking at what serves until the changes are submitted; never during a load. */
    private final ReentrantLock deciding = new ReentrantLock();

    /** The loads that may not have ended; guarded by {@link #deciding}. */
    private final List<Load> loads = new ArrayList<>();

    /** The unloading of each model that may not have ended and no load follows; guarded by {@link #deciding}. */
    private final Map<ModelIdentifier, CompletableFuture<?>> unloads = new HashMap<>();

    /** A submitted load and the models that it asks; completing {@code ended} has it not wait for those any more. */
    private record Load(
            ModelEntry entry, List<String> asked, CompletableFuture<Void> ended, CompletableFuture<?> change) {}

    ModelChangeQueue(ModelSources sources, ModelTable models, LoadThreads threads, ModelReload reload) {
        this.sources = sources;
        this.models = models;
        this.threads = threads;
        this.reload = reload;
    }

    /** One round of decisions: which models are changed by it, and when that is done. For one thread. */
    static final class Round {
        final Map<ModelIdentifier, CompletableFuture<List<ModelLoader.Result>>> changes = new HashMap<>();
        final Map<ModelIdentifier, ModelSource> sources = new HashMap<>();
        /** Models that are being looked at; one that is met again asks itself. */
        final Set<ModelIdentifier> begun = new LinkedHashSet<>();

        boolean read = true;
    }

    /** Has a model loaded that was found in the repositories, unless it cannot be; the round tells which are. */
    void begin(ModelIdentifier identifier, Finding finding, Round round) {
        if (!round.begun.add(identifier)) {
            return;
        }
        ModelEntry entry = models.entry(identifier);
        switch (finding) {
            case Finding.Conflict conflict -> refuse(entry, conflict.reason());
            case Finding.Model model -> {
                try {
                    begin(entry, sources.read(model.directory()), round);
                } catch (GatunException e) {
                    refuse(entry, e.getMessage());
                }
            }
        }
    }

    /** Notes why a model cannot be loaded as it is now. */
    void refuse(ModelEntry entry, String reason) {
        List<VersionEntry> before = entry.versions();
        boolean known = !before.isEmpty()
                && before.stream().anyMatch(row -> row.reason().equals(reason));
        entry.refuse(reason);
        if (!known) {
            LOG.warn("Model '{}' cannot be loaded: {}", entry.model(), reason);
            models.listeners().changed();
        }
    }

    /** Loads a model once those that it asks are loaded, unless it asks itself. Takes over {@code source}'s files. */
    void begin(ModelEntry entry, ModelSource source, Round round) {
        deciding.lock();
        try {
            round.sources.put(entry.model(), source);
            Collection<CompletableFuture<?>> before = new ArrayList<>();
            for (String asked : source.dependencies()) {
                beginMember(asked, round);
                for (ModelEntry member : models.named(asked)) {
                    Optional.ofNullable(round.changes.get(member.model())).ifPresent(before::add);
                    threads.pending(member.model()).ifPresent(before::add);
                }
            }
            List<ModelIdentifier> circle = DependencyOrder.circle(entry.model(), model -> dependencies(model, round));
            if (!circle.isEmpty()) {
                source.discard();
                refuse(
                        entry,
                        "circular dependency between ensembles: " + entry.model() + " -> ... -> "
                                + circle.get(circle.size() - 2) + " -> " + entry.model() + ", in full "
                                + circle.stream().map(ModelIdentifier::toString).collect(Collectors.joining(" -> ")));
                return;
            }
            CompletableFuture<Void> ended = new CompletableFuture<>();
            CompletableFuture<?> loadedBefore = CompletableFuture.allOf(before.toArray(CompletableFuture<?>[]::new));
            CompletableFuture<List<ModelLoader.Result>> change = threads.submit(
                    entry.model(), List.of(CompletableFuture.anyOf(loadedBefore, ended)), () -> load(entry, source));
            round.changes.put(entry.model(), change);
            unloads.remove(entry.model());
            loads.removeIf(load -> load.change().isDone());
            loads.add(new Load(entry, source.dependencies(), ended, change));
        } finally {
            deciding.unlock();
        }
    }

    /** Has the models of that name loaded that do not serve, or not for long. */
    private void beginMember(String name, Round round) {
        if (!models.namespacing() && models.named(name).stream().anyMatch(this::stays)) {
            return;
        }
        sources.named(name).forEach((model, finding) -> {
            if (!models.find(model).map(this::stays).orElse(false)) {
                begin(model, finding, round);
            }
        });
    }

    /** Whether a model serves, and is not about to be unloaded. */
    private boolean stays(ModelEntry entry) {
        // Looked at first: an unloading that has ended by now shows in what serves.
        CompletableFuture<?> unload = unloads.get(entry.model());
        boolean leaves = unload != null && !unload.isDone();
        return !leaves && entry.serves();
    }

    /** The models that a model asks: those of its own namespace, and others for names that are not there. */
    private List<ModelIdentifier> dependencies(ModelIdentifier model, Round round) {
        return Optional.ofNullable(round.sources.get(model))
                .or(() -> models.find(model).flatMap(ModelEntry::attempted))
                .map(ModelSource::dependencies)
                .orElse(List.of())
                .stream()
                .flatMap(name -> {
                    ModelIdentifier own = new ModelIdentifier(model.namespace(), name);
                    return models.find(own).isPresent()
                            ? Stream.of(own)
                            : models.named(name).stream().map(ModelEntry::model);
                })
                .toList();
    }

    private List<ModelLoader.Result> load(ModelEntry entry, ModelSource source) {
        List<ModelLoader.Result> results = reload.load(entry, source);
        if (entry.serves()) {
            // Those that could not be loaded without this model may be by now; those that were made for what it was are
            // made anew.
            renewAsking(entry.name());
        }
        return results;
    }

    private void renewAsking(String name) {
        for (ModelEntry dependent : models.asking(name)) {
            if (!dependent.serves() || dependent.outdated()) {
                dependent
                        .attempted()
                        .ifPresent(tried -> threads.start(dependent.model(), () -> load(dependent, tried)));
            }
        }
    }

    List<ModelEntry> users(ModelEntry asked) {
        deciding.lock();
        try {
            // Looked at first: a load that has ended by now shows in what serves.
            List<ModelEntry> loading = loadsAsking(asked.name())
                    .map(Load::entry)
                    .filter(entry -> models.member(entry.model().namespace(), asked.name()) == asked)
                    .toList();
            return Stream.concat(
                            loading.stream(), models.dependents(asked).stream().filter(ModelEntry::serves))
                    .distinct()
                    .toList();
        } finally {
            deciding.unlock();
        }
    }

    private Stream<Load> loadsAsking(String name) {
        return loads.stream()
                .filter(load -> load.asked().contains(name) && !load.change().isDone());
    }

    /** The end of loads of models that ask this one, directly or not; limited where a load may never end. */
    private CompletableFuture<?> loadsNeeding(String name) {
        List<CompletableFuture<?>> needing = new ArrayList<>();
        Set<String> seen = new HashSet<>(Set.of(name));
        Deque<String> left = new ArrayDeque<>(seen);
        while (!left.isEmpty()) {
            String asked = left.remove();
            List<Load> loading = loadsAsking(asked).toList();
            loading.forEach(load -> needing.add(load.change()));
            Stream.concat(loading.stream().map(Load::entry), models.asking(asked).stream())
                    .map(ModelEntry::name)
                    .filter(seen::add)
                    .forEach(left::add);
        }
        return CompletableFuture.allOf(needing.toArray(CompletableFuture<?>[]::new))
                .handle((nothing, failure) -> null)
                .completeOnTimeout(null, PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Takes a model out of service after the loads under way that ask it; its own are ended now. {@code withUnused}:
     * with the models that only it asks, and nobody by name. {@code afterwards} is called when its requests have ended;
     * the result completes when new ones are refused. Throws UNAVAILABLE when the server stops.
     */
    CompletableFuture<Void> unload(ModelEntry entry, boolean withUnused, Runnable afterwards) {
        deciding.lock();
        try {
            LoadAttempts.Ending ending = end(entry);
            CompletableFuture<Void> change = submit(entry, ending, () -> {
                ending.close();
                Runnable unused = withUnused ? unused(entry) : () -> {};
                reload.unload(entry, () -> {
                    unused.run();
                    afterwards.run();
                });
                if (models.namespacing()) {
                    // Ensembles are made anew that may ask the model of another namespace now.
                    renewAsking(entry.name());
                }
                return null;
            });
            unloads.values().removeIf(CompletableFuture::isDone);
            unloads.put(entry.model(), change);
            return change;
        } finally {
            deciding.unlock();
        }
    }

    /** Submits an unload that has ended the loads before it. */
    private CompletableFuture<Void> submit(ModelEntry entry, LoadAttempts.Ending ending, Supplier<Void> unload) {
        try {
            return threads.submit(entry.model(), List.of(loadsNeeding(entry.name())), unload);
        } catch (GatunException e) {
            ending.close();
            throw e;
        }
    }

    /** Ends the loads of a model that is not to be served any more; a later look unloads it. */
    void endLoads(ModelEntry entry) {
        deciding.lock();
        try {
            end(entry).close();
        } finally {
            deciding.unlock();
        }
    }

    /** Ends the loads of a model, also those that wait for others, until the result is closed. */
    private LoadAttempts.Ending end(ModelEntry entry) {
        LoadAttempts.Ending ending = reload.endLoads(entry);
        loads.stream().filter(load -> load.entry().equals(entry)).forEach(load -> load.ended()
                .complete(null));
        return ending;
    }

    /** As {@link #unload} where nobody waits for it; does nothing when the server stops. */
    void startUnload(ModelEntry entry, boolean withUnused) {
        if (threads.closed()) {
            return;
        }
        CompletableFuture<Void> started = unload(entry, withUnused, () -> {});
        assert !started.isCancelled() : "nobody has it to cancel it";
    }

    /** Unloads the models that {@code entry} asks, which nobody else asks and nobody asked for by name. */
    private Runnable unused(ModelEntry entry) {
        List<String> asked = entry.loaded().map(ModelSource::dependencies).orElse(List.of());
        return () -> asked.stream().flatMap(name -> models.named(name).stream()).forEach(this::unloadUnused);
    }

    private void unloadUnused(ModelEntry member) {
        deciding.lock();
        try {
            if (!member.wanted() && member.serves() && users(member).isEmpty()) {
                startUnload(member, true);
            }
        } finally {
            deciding.unlock();
        }
    }
}
