// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelOverride;
import gatun.runtime.repository.RepositoryScan.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what is loaded and unloaded, and in which order: a model after those that it asks. Safe for any thread; a
 * method that waits says so.
 */
final class ModelLifeCycle {
    private static final Logger LOG = LoggerFactory.getLogger(ModelLifeCycle.class);

    private final ModelSources sources;
    private final ModelTable models;
    private final LoadThreads threads;
    private final ModelReload reload;
    private final int modelLimit;

    /** @param modelLimit a request may bring the files of a new model while there are fewer models than this */
    ModelLifeCycle(ModelSources sources, ModelTable models, LoadThreads threads, ModelReload reload, int modelLimit) {
        this.sources = sources;
        this.models = models;
        this.threads = threads;
        this.reload = reload;
        this.modelLimit = modelLimit;
    }

    /** One round of decisions: which models are changed by it, and when that is done. */
    private static final class Round {
        final Map<ModelIdentifier, CompletableFuture<List<ModelLoader.Result>>> changes = new HashMap<>();
        /** The sources of the models that are changed. */
        final Map<ModelIdentifier, ModelSource> sources = new HashMap<>();
        /** Models that are being looked at; one that is met again asks itself. */
        final Set<ModelIdentifier> begun = new LinkedHashSet<>();
        /** Whether the repositories could be read. */
        boolean read = true;
    }

    /**
     * Loads the models that were found and waits until each model is ready or has a reason why not.
     *
     * @param found models, or why one cannot be served
     */
    void start(SortedMap<ModelIdentifier, Finding> found) {
        Round round = new Round();
        found.keySet().forEach(model -> models.entry(model).wanted(true));
        found.forEach((model, finding) -> begin(model, finding, round));
        round.changes.values().forEach(CompletableFuture::join);
    }

    private void begin(ModelIdentifier identifier, Finding finding, Round round) {
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

    private void refuse(ModelEntry entry, String reason) {
        List<VersionEntry> before = entry.versions();
        boolean known = !before.isEmpty()
                && before.stream().anyMatch(row -> row.reason().equals(reason));
        entry.refuse(reason);
        if (!known) {
            LOG.warn("Model '{}' cannot be loaded: {}", entry.model(), reason);
            models.listeners().changed();
        }
    }

    /** Has a model loaded when those that it asks are. */
    private void begin(ModelEntry entry, ModelSource source, Round round) {
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
                    "circular dependency between ensembles: "
                            + circle.stream().map(ModelIdentifier::toString).collect(Collectors.joining(" -> ")));
            return;
        }
        round.changes.put(entry.model(), threads.submit(entry.model(), before, () -> load(entry, source)));
    }

    /** Has the models of that name loaded that do not serve. */
    private void beginMember(String name, Round round) {
        if (!models.namespacing() && models.named(name).stream().anyMatch(ModelEntry::serves)) {
            return;
        }
        sources.named(name).forEach((model, finding) -> {
            if (!models.find(model).map(ModelEntry::serves).orElse(false)) {
                begin(model, finding, round);
            }
        });
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

    /**
     * Loads the models of one name as a client asks for it, and waits for them: several where namespaces are, each from
     * its own repository.
     *
     * @throws GatunException with the protocol's text when a version cannot be loaded
     */
    void load(String name, ModelOverride override) {
        ModelName.check(name);
        if (!override.files().isEmpty() && override.config().isEmpty()) {
            throw GatunException.invalidArgument("Load parameter 'config' must be specified for model file override");
        }
        SortedMap<ModelIdentifier, Finding> found = override.files().isEmpty() ? sources.named(name) : new TreeMap<>();
        if (found.isEmpty()) {
            load(ModelIdentifier.of(name), Optional.empty(), override);
            return;
        }
        Optional<GatunException> failure = Optional.empty();
        for (Map.Entry<ModelIdentifier, Finding> model : found.entrySet()) {
            try {
                load(model.getKey(), Optional.of(directory(model.getKey(), model.getValue())), override);
            } catch (GatunException e) {
                failure = failure.or(() -> Optional.of(e));
            }
        }
        if (failure.isPresent()) {
            throw failure.get();
        }
    }

    private void load(ModelIdentifier model, Optional<ModelDirectory> directory, ModelOverride override) {
        ModelSource source;
        try {
            source = sources.read(model.name(), directory, override);
        } catch (GatunException e) {
            GatunException noted = unreadable(model, directory.isPresent(), e);
            throw override.isEmpty() ? noted : LoadOutcome.unreadable(model.name(), ": " + e.getMessage(), e);
        }
        if (directory.isEmpty() && models.find(model).isEmpty() && models.size() >= modelLimit) {
            source.discard();
            throw LoadOutcome.tooMany(model.name(), models.size());
        }
        ModelEntry entry = models.entry(model);
        entry.wanted(true);
        Round round = new Round();
        round.begun.add(model);
        begin(entry, source, round);
        CompletableFuture<List<ModelLoader.Result>> change = round.changes.get(model);
        if (change == null) {
            String reason = entry.versions().getFirst().reason();
            throw LoadOutcome.unreadable(model.name(), ": " + reason, GatunException.invalidArgument(reason));
        }
        LoadOutcome.requireSuccess(source, await(change));
    }

    /** @throws GatunException RESOURCE_EXHAUSTED when the models are as many as there may be that requests bring */
    void requireRoom(List<ListedModel> added) {
        if (models.size() + added.size() > modelLimit) {
            throw LoadOutcome.tooMany(added.getFirst().name(), models.size());
        }
    }

    private ModelDirectory directory(ModelIdentifier model, Finding finding) {
        return switch (finding) {
            case Finding.Conflict conflict ->
                throw unreadable(model, true, GatunException.invalidArgument(conflict.reason()));
            case Finding.Model found -> found.directory();
        };
    }

    /** @param found whether there is such a model, so that there is more to say than that there is none */
    private GatunException unreadable(ModelIdentifier model, boolean found, GatunException failure) {
        String reason = failure.getMessage();
        if (found || models.find(model).isPresent()) {
            refuse(models.entry(model), reason);
        } else {
            LOG.warn("Model '{}' cannot be loaded: {}", model, reason);
        }
        return LoadOutcome.unreadable(model.name(), found ? ": " + reason : sources.absence(model.name()), failure);
    }

    private static <T> T await(CompletableFuture<T> change) {
        try {
            return change.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof GatunException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /**
     * Takes a model out of service; waits until new requests are refused, and not for those that run.
     *
     * @param dependents whether models go too that ask this one, and those that were loaded only because this one asks
     *     them
     */
    void unload(String name, boolean dependents) {
        models.named(name).forEach(entry -> unload(entry, dependents));
    }

    private void unload(ModelEntry entry, boolean dependents) {
        if (!dependents) {
            await(takeOut(entry, () -> {}));
            return;
        }
        List<ModelEntry> users =
                models.dependents(entry).stream().filter(ModelEntry::serves).toList();
        if (users.isEmpty()) {
            await(takeOut(entry, unused(entry)));
            return;
        }
        // A model that asks others goes before them: its requests may still need them.
        AtomicInteger left = new AtomicInteger(users.size());
        for (ModelEntry user : users) {
            await(takeOut(user, () -> {
                if (left.decrementAndGet() == 0) {
                    threads.start(entry.model(), () -> reload.unload(entry, unused(entry)));
                }
            }));
        }
    }

    private CompletableFuture<Void> takeOut(ModelEntry entry, Runnable afterwards) {
        entry.wanted(false);
        return threads.submit(entry.model(), List.of(), () -> {
            reload.unload(entry, afterwards);
            renewAskingElsewhere(entry.name());
            return null;
        });
    }

    /** Has ensembles made anew that ask the model of another namespace, now that one is gone. */
    private void renewAskingElsewhere(String name) {
        if (models.namespacing()) {
            renewAsking(name);
        }
    }

    /** Unloads the models that {@code entry} asks, which nobody else asks and nobody asked for by name. */
    private Runnable unused(ModelEntry entry) {
        List<String> asked = entry.loaded().map(ModelSource::dependencies).orElse(List.of());
        return () -> {
            for (String name : asked) {
                models.named(name).stream()
                        .filter(member -> !member.wanted() && member.serves())
                        .filter(member -> models.dependents(member).stream().noneMatch(ModelEntry::serves))
                        .forEach(member -> threads.start(member.model(), () -> reload.unload(member, unused(member))));
            }
        };
    }

    /**
     * Looks for changes in the repositories and has models loaded or unloaded. Does not wait for that, and never
     * throws; false when the repositories cannot be read.
     */
    boolean poll() {
        return look().read;
    }

    /** As {@link #poll}, but waits first for changes under way, and at the end for its own. */
    void pollAndWait() {
        for (ModelEntry entry : models.all()) {
            threads.pending(entry.model()).ifPresent(ModelLifeCycle::awaitEnd);
        }
        look().changes.values().forEach(ModelLifeCycle::awaitEnd);
    }

    /** Waits until a change has ended, however it did. */
    private static void awaitEnd(CompletableFuture<?> change) {
        change.handle((nothing, failure) -> nothing).join();
    }

    private Round look() {
        Round round = new Round();
        SortedMap<ModelIdentifier, Finding> found;
        try {
            found = sources.scan();
        } catch (GatunException e) {
            LOG.warn("The model repositories cannot be read and are left as they are: {}", e.getMessage());
            round.read = false;
            return round;
        }
        found.forEach((model, finding) -> poll(model, finding, round));
        for (ModelEntry entry : models.all()) {
            if (!found.containsKey(entry.model())
                    && threads.pending(entry.model()).isEmpty()) {
                if (entry.attempted().isPresent()) {
                    LOG.info("Model '{}' is no longer in the repository", entry.model());
                    threads.start(entry.model(), () -> {
                        reload.unload(entry, () -> {});
                        renewAskingElsewhere(entry.name());
                    });
                } else {
                    models.removeUnused(entry);
                }
            }
        }
        return round;
    }

    private void poll(ModelIdentifier identifier, Finding finding, Round round) {
        // A change under way goes on; the next look is soon enough for what changes meanwhile.
        if (threads.pending(identifier).isPresent() || !round.begun.add(identifier)) {
            return;
        }
        ModelEntry entry = models.entry(identifier);
        entry.wanted(true);
        try {
            switch (finding) {
                case Finding.Conflict conflict -> refuse(entry, conflict.reason());
                case Finding.Model model -> {
                    ModelSource source = sources.read(model.directory());
                    if (entry.attempted().map(source::isSameAs).orElse(false)) {
                        entry.accept();
                        return;
                    }
                    begin(entry, source, round);
                }
            }
        } catch (GatunException e) {
            refuse(entry, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Looking for changes of model '{}' failed unexpectedly", identifier, e);
        }
    }

    /** Begins nothing more, and waits for changes under way; false when that takes longer than {@code grace}. */
    boolean close(Duration grace) {
        return threads.close(grace);
    }
}
