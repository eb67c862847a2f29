// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.runtime.repository.RepositoryScan.Finding;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides what is loaded and unloaded, as clients ask and as the repositories change. Thread-safe. */
final class ModelLifeCycle {
    private static final Logger LOG = LoggerFactory.getLogger(ModelLifeCycle.class);

    private final ModelSources sources;
    private final ModelTable models;
    private final LoadThreads threads;
    private final ModelChangeQueue order;
    private final int modelLimit;

    /** @param modelLimit a request may bring the files of a new model while there are fewer models than this */
    ModelLifeCycle(ModelSources sources, ModelTable models, LoadThreads threads, ModelReload reload, int modelLimit) {
        this.sources = sources;
        this.models = models;
        this.threads = threads;
        order = new ModelChangeQueue(sources, models, threads, reload);
        this.modelLimit = modelLimit;
    }

    /** Loads the models that were found and waits until each model is ready or has a reason why not. */
    void start(SortedMap<ModelIdentifier, Finding> found) {
        ModelChangeQueue.Round round = new ModelChangeQueue.Round();
        found.keySet().forEach(model -> models.entry(model).setWanted(true));
        found.forEach((model, finding) -> order.begin(model, finding, round));
        round.changes.values().forEach(CompletableFuture::join);
    }

    /** Loads a name's models, one per namespace, for a client and waits. Throws with the protocol's text on failure. */
    void load(String name, ModelOverride override) {
        ModelName.check(name);
        if (!override.files().isEmpty() && override.config().isEmpty()) {
            throw GatunException.invalidArgument(
                    "failed to load '" + name + "', failed to poll from model repository: Load"
                            + " parameter 'config' must be specified for model file override");
        }
        SortedMap<ModelIdentifier, Finding> present = sources.scan();
        if (!override.files().isEmpty()) {
            ModelIdentifier model = ModelIdentifier.of(name);
            Optional<ModelDirectory> operators =
                    Optional.ofNullable(present.get(model)).map(finding -> directory(model, finding));
            load(model, operators, override, "");
            return;
        }
        if (present.keySet().stream().noneMatch(model -> model.name().equals(name))) {
            String absence = LoadOutcome.absence(name, present.keySet());
            load(ModelIdentifier.of(name), Optional.empty(), override, absence);
            return;
        }
        present.keySet().removeIf(model -> !model.name().equals(name));
        Optional<GatunException> failure = Optional.empty();
        for (Map.Entry<ModelIdentifier, Finding> model : present.entrySet()) {
            try {
                load(model.getKey(), Optional.of(directory(model.getKey(), model.getValue())), override, "");
            } catch (GatunException e) {
                failure = failure.or(() -> Optional.of(e));
            }
        }
        if (failure.isPresent()) {
            throw failure.get();
        }
    }

    /** As {@link #load(String, ModelOverride)} for one model of its name; {@code override} is without files. */
    void load(ModelIdentifier model, ModelOverride override) {
        SortedMap<ModelIdentifier, Finding> present = sources.scan();
        Optional<ModelDirectory> directory =
                Optional.ofNullable(present.get(model)).map(finding -> directory(model, finding));
        load(model, directory, override, LoadOutcome.absence(model.name(), present.keySet()));
    }

    /** @param absence what to say where there is no directory, and the request does not bring another */
    private void load(
            ModelIdentifier model, Optional<ModelDirectory> directory, ModelOverride override, String absence) {
        ModelSource source;
        try {
            source = sources.read(model.name(), directory, override);
        } catch (OverrideRefusedException e) {
            throw e; // Not the model's fault: its state stays.
        } catch (GatunException e) {
            note(model, directory.isPresent(), e.getMessage());
            String why = directory.isEmpty() && override.isEmpty() ? absence : ": " + e.getMessage();
            throw LoadOutcome.unreadable(model.name(), why, e);
        }
        if (directory.isEmpty() && models.find(model).isEmpty() && models.size() >= modelLimit) {
            source.discard();
            throw LoadOutcome.tooMany(model.name(), models.size());
        }
        ModelEntry entry = models.entry(model);
        entry.setWanted(true);
        ModelChangeQueue.Round round = new ModelChangeQueue.Round();
        round.begun.add(model);
        order.begin(entry, source, round);
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
            case Finding.Conflict conflict -> {
                String reason = conflict.reason();
                note(model, true, reason);
                throw LoadOutcome.unreadable(model.name(), ": " + reason, GatunException.invalidArgument(reason));
            }
            case Finding.Model found -> found.directory();
        };
    }

    /** Notes why a model cannot be loaded. {@code found} says whether there is such a model in the repositories. */
    private void note(ModelIdentifier model, boolean found, String reason) {
        if (found || models.find(model).isPresent()) {
            order.refuse(models.entry(model), reason);
        } else {
            LOG.warn("Model '{}' cannot be loaded: {}", model, reason);
        }
    }

    /** Notes why the files of all models of a name, which are loaded or in a repository, cannot be brought up to date. */
    void refuse(String name, String reason) {
        Set<ModelIdentifier> known = new TreeSet<>();
        models.named(name).forEach(entry -> known.add(entry.model()));
        try {
            known.addAll(sources.named(name).keySet());
        } catch (GatunException e) {
            LOG.warn("The model repositories cannot be read: {}", e.getMessage());
        }
        known.forEach(model -> order.refuse(models.entry(model), reason));
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
     * Takes a model out of service after the loads under way that ask it; waits until new requests are refused, not for
     * running ones. {@code dependents}: with those that ask it, and those loaded only because it asks them.
     */
    void unload(String name, boolean dependents) {
        models.named(name).forEach(entry -> unload(entry, dependents));
    }

    /** As {@link #unload(String, boolean)}, for one of the models of its name. */
    void unload(ModelIdentifier model, boolean dependents) {
        models.find(model).ifPresent(entry -> unload(entry, dependents));
    }

    private void unload(ModelEntry entry, boolean dependents) {
        List<ModelEntry> users = dependents ? order.users(entry) : List.of();
        if (users.isEmpty()) {
            entry.setWanted(false);
            await(order.unload(entry, dependents, () -> {}));
            return;
        }
        // A model that asks others goes before them: its requests may still need them.
        AtomicInteger left = new AtomicInteger(users.size());
        for (ModelEntry user : users) {
            user.setWanted(false);
            await(order.unload(user, false, () -> {
                if (left.decrementAndGet() == 0) {
                    order.startUnload(entry, true);
                }
            }));
        }
    }

    /** Has changes in repositories loaded or unloaded, without waiting. Never throws; false if one cannot be read. */
    boolean poll() {
        return look().read;
    }

    /** As {@link #poll}, but waits first for changes under way, and at the end for its own. */
    void pollAndWait() {
        endLoadsOfDeparted();
        for (ModelEntry entry : models.all()) {
            threads.pending(entry.model()).ifPresent(ModelLifeCycle::awaitEnd);
        }
        look().changes.values().forEach(ModelLifeCycle::awaitEnd);
    }

    /** A load of a model that nobody lists any more might never end. */
    private void endLoadsOfDeparted() {
        try {
            Set<ModelIdentifier> present = sources.scan().keySet();
            models.all().stream()
                    .filter(entry -> !present.contains(entry.model()))
                    .forEach(order::endLoads);
        } catch (GatunException e) {
            LOG.debug("Loads go on, since the model repositories cannot be read", e); // The look that follows tells it.
        }
    }

    /** Waits until a change has ended, however it did. */
    private static void awaitEnd(CompletableFuture<?> change) {
        change.handle((nothing, failure) -> nothing).join();
    }

    private ModelChangeQueue.Round look() {
        ModelChangeQueue.Round round = new ModelChangeQueue.Round();
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
            if (!found.containsKey(entry.model())) {
                if (threads.pending(entry.model()).isPresent()) {
                    order.endLoads(entry); // The next look finds it without a change under way.
                } else if (entry.attempted().isPresent()) {
                    LOG.info("Model '{}' is no longer in the repository", entry.model());
                    order.startUnload(entry, false);
                } else {
                    models.removeUnused(entry);
                }
            }
        }
        return round;
    }

    private void poll(ModelIdentifier identifier, Finding finding, ModelChangeQueue.Round round) {
        // A change under way goes on; the next look is soon enough for what changes meanwhile.
        if (threads.pending(identifier).isPresent() || !round.begun.add(identifier)) {
            return;
        }
        ModelEntry entry = models.entry(identifier);
        entry.setWanted(true);
        try {
            switch (finding) {
                case Finding.Conflict conflict -> {
                    if (entry.attempted().isPresent()) {
                        LOG.warn("Model '{}' is unloaded: {}", identifier, conflict.reason());
                        order.startUnload(entry, false);
                    } else {
                        order.refuse(entry, conflict.reason());
                    }
                }
                case Finding.Model model -> {
                    ModelSource source = sources.read(model.directory());
                    if (entry.attempted().map(source::isSameAs).orElse(false)) {
                        entry.accept();
                        return;
                    }
                    order.begin(entry, source, round);
                }
            }
        } catch (GatunException e) {
            order.refuse(entry, e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("Looking for changes of model '{}' failed unexpectedly", identifier, e);
        }
    }

    /** Begins nothing more, and waits for changes under way; false when that takes longer than {@code grace}. */
    boolean close(Duration grace) {
        return threads.close(grace);
    }
}
