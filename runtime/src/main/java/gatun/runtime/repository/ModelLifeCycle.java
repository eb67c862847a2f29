// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Setting;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
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
        final Map<String, CompletableFuture<List<ModelLoader.Result>>> changes = new HashMap<>();
        /** The sources of the models that are changed. */
        final Map<String, ModelSource> sources = new HashMap<>();
        /** Models that are being looked at; one that is met again asks itself. */
        final Set<String> begun = new LinkedHashSet<>();
        /** Whether the repositories could be read. */
        boolean read = true;
    }

    /**
     * Loads the models that were found and waits until each model is ready or has a reason why not.
     *
     * @param found models by name, or why a name cannot be served
     */
    void start(SortedMap<String, Finding> found) {
        Round round = new Round();
        found.keySet().forEach(name -> models.entry(name).wanted(true));
        found.forEach((name, finding) -> begin(name, finding, round));
        round.changes.values().forEach(CompletableFuture::join);
    }

    private void begin(String name, Finding finding, Round round) {
        if (!round.begun.add(name)) {
            return;
        }
        ModelEntry entry = models.entry(name);
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
            LOG.warn("Model '{}' cannot be loaded: {}", entry.name(), reason);
            models.listeners().changed();
        }
    }

    /** Has a model loaded when those that it asks are. */
    private void begin(ModelEntry entry, ModelSource source, Round round) {
        round.sources.put(entry.name(), source);
        Collection<CompletableFuture<?>> before = new ArrayList<>();
        for (String asked : source.dependencies()) {
            if (!models.find(asked).map(ModelEntry::serves).orElse(false)) {
                sources.find(asked).ifPresent(finding -> begin(asked, finding, round));
            }
            Optional.ofNullable(round.changes.get(asked)).ifPresent(before::add);
            threads.pending(asked).ifPresent(before::add);
        }
        List<String> circle = DependencyOrder.circle(entry.name(), name -> dependencies(name, round));
        if (!circle.isEmpty()) {
            source.discard();
            refuse(entry, "circular dependency between ensembles: " + String.join(" -> ", circle));
            return;
        }
        round.changes.put(entry.name(), threads.submit(entry.name(), before, () -> load(entry, source)));
    }

    private List<String> dependencies(String name, Round round) {
        return Optional.ofNullable(round.sources.get(name))
                .or(() -> models.find(name).flatMap(ModelEntry::attempted))
                .map(ModelSource::dependencies)
                .orElse(List.of());
    }

    private List<ModelLoader.Result> load(ModelEntry entry, ModelSource source) {
        List<ModelLoader.Result> results = reload.load(entry, source);
        if (entry.serves()) {
            // Those that could not be loaded without this model may be by now; those that were made for what it was are
            // made anew.
            for (ModelEntry dependent : models.dependents(entry.name())) {
                if (!dependent.serves() || dependent.outdated()) {
                    dependent
                            .attempted()
                            .ifPresent(tried -> threads.start(dependent.name(), () -> load(dependent, tried)));
                }
            }
        }
        return results;
    }

    /**
     * Loads one model as a client asks for it, and waits for it.
     *
     * @throws GatunException with the protocol's text when a version cannot be loaded
     */
    void load(String name, ModelOverride override) {
        ModelName.check(name);
        if (!override.files().isEmpty() && override.config().isEmpty()) {
            throw GatunException.invalidArgument("Load parameter 'config' must be specified for model file override");
        }
        Optional<ModelDirectory> directory = override.files().isEmpty() ? directory(name) : Optional.empty();
        ModelSource source;
        try {
            source = sources.read(name, directory, override);
        } catch (GatunException e) {
            GatunException noted = unreadable(name, directory.isPresent(), e);
            throw override.isEmpty() ? noted : unreadable(name, ": " + e.getMessage(), e);
        }
        if (directory.isEmpty() && models.find(name).isEmpty() && models.size() >= modelLimit) {
            source.discard();
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "failed to load '" + name + "', there are " + models.size()
                            + " models, the limit for models of files that requests bring; the server's "
                            + Setting.LIMIT_MODELS + " sets it");
        }
        ModelEntry entry = models.entry(name);
        entry.wanted(true);
        Round round = new Round();
        round.begun.add(name);
        begin(entry, source, round);
        CompletableFuture<List<ModelLoader.Result>> change = round.changes.get(name);
        if (change == null) {
            String reason = entry.versions().getFirst().reason();
            throw unreadable(name, ": " + reason, GatunException.invalidArgument(reason));
        }
        List<ModelLoader.Result> results = await(change);
        if (source.versions().isEmpty()) {
            throw new ModelLoadException(
                    ErrorCode.INVALID_ARGUMENT,
                    "failed to load '" + name + "', no version is available",
                    failures(results));
        }
        StringBuilder failures = new StringBuilder();
        for (ModelLoader.Result result : results) {
            result.failure().ifPresent(failure -> failures.append("version ")
                    .append(result.entry().version())
                    .append(" is at UNAVAILABLE state: ")
                    .append(codeText(failure.code()))
                    .append(": ")
                    .append(failure.getMessage())
                    .append(";\n"));
        }
        if (!failures.isEmpty()) {
            throw new ModelLoadException(
                    ErrorCode.INVALID_ARGUMENT, "load failed for model '" + name + "': " + failures, failures(results));
        }
    }

    private static List<GatunException> failures(List<ModelLoader.Result> results) {
        return results.stream().flatMap(result -> result.failure().stream()).toList();
    }

    private Optional<ModelDirectory> directory(String name) {
        Optional<Finding> found = sources.find(name);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        return switch (found.get()) {
            case Finding.Conflict conflict ->
                throw unreadable(name, true, GatunException.invalidArgument(conflict.reason()));
            case Finding.Model model -> Optional.of(model.directory());
        };
    }

    /** @param found whether there is such a model, so that there is more to say than that there is none */
    private GatunException unreadable(String name, boolean found, GatunException failure) {
        String reason = failure.getMessage();
        if (found || models.find(name).isPresent()) {
            refuse(models.entry(name), reason);
        } else {
            LOG.warn("Model '{}' cannot be loaded: {}", name, reason);
        }
        return unreadable(name, found ? ": " + reason : sources.absence(name), failure);
    }

    private static GatunException unreadable(String name, String why, GatunException reason) {
        return new ModelLoadException(
                ErrorCode.INTERNAL,
                "failed to load '" + name + "', failed to poll from model repository" + why,
                List.of(reason));
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

    private static String codeText(ErrorCode code) {
        return switch (code) {
            case UNKNOWN -> "Unknown";
            case INTERNAL -> "Internal";
            case NOT_FOUND -> "Not found";
            case INVALID_ARGUMENT -> "Invalid argument";
            case UNAVAILABLE -> "Unavailable";
            case RESOURCE_EXHAUSTED -> "Resource exhausted";
            case UNSUPPORTED -> "Unsupported";
            case ALREADY_EXISTS -> "Already exists";
            case CANCELLED -> "Cancelled";
        };
    }

    /**
     * Takes a model out of service; waits until new requests are refused, and not for those that run.
     *
     * @param dependents whether models go too that ask this one, and those that were loaded only because this one asks
     *     them
     */
    void unload(String name, boolean dependents) {
        Optional<ModelEntry> found = models.find(name);
        if (found.isEmpty()) {
            return;
        }
        ModelEntry entry = found.get();
        if (!dependents) {
            await(takeOut(entry, () -> {}));
            return;
        }
        List<ModelEntry> users =
                models.dependents(name).stream().filter(ModelEntry::serves).toList();
        if (users.isEmpty()) {
            await(takeOut(entry, unused(entry)));
            return;
        }
        // A model that asks others goes before them: its requests may still need them.
        AtomicInteger left = new AtomicInteger(users.size());
        for (ModelEntry user : users) {
            await(takeOut(user, () -> {
                if (left.decrementAndGet() == 0) {
                    threads.start(name, () -> reload.unload(entry, unused(entry)));
                }
            }));
        }
    }

    private CompletableFuture<Void> takeOut(ModelEntry entry, Runnable afterwards) {
        entry.wanted(false);
        return threads.submit(entry.name(), List.of(), () -> {
            reload.unload(entry, afterwards);
            return null;
        });
    }

    /** Unloads the models that {@code entry} asks, which nobody else asks and nobody asked for by name. */
    private Runnable unused(ModelEntry entry) {
        List<String> asked = entry.loaded().map(ModelSource::dependencies).orElse(List.of());
        return () -> {
            for (String name : asked) {
                models.find(name)
                        .filter(member -> !member.wanted() && member.serves())
                        .filter(member -> models.dependents(name).stream().noneMatch(ModelEntry::serves))
                        .ifPresent(member -> threads.start(name, () -> reload.unload(member, unused(member))));
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
            threads.pending(entry.name()).ifPresent(ModelLifeCycle::awaitEnd);
        }
        look().changes.values().forEach(ModelLifeCycle::awaitEnd);
    }

    /** Waits until a change has ended, however it did. */
    private static void awaitEnd(CompletableFuture<?> change) {
        change.handle((nothing, failure) -> nothing).join();
    }

    private Round look() {
        Round round = new Round();
        SortedMap<String, Finding> found;
        try {
            found = sources.scan();
        } catch (GatunException e) {
            LOG.warn("The model repositories cannot be read and are left as they are: {}", e.getMessage());
            round.read = false;
            return round;
        }
        found.forEach((name, finding) -> poll(name, finding, round));
        for (ModelEntry entry : models.all()) {
            if (!found.containsKey(entry.name())
                    && threads.pending(entry.name()).isEmpty()) {
                if (entry.attempted().isPresent()) {
                    LOG.info("Model '{}' is no longer in the repository", entry.name());
                    threads.start(entry.name(), () -> reload.unload(entry, () -> {}));
                } else {
                    models.removeUnused(entry);
                }
            }
        }
        return round;
    }

    private void poll(String name, Finding finding, Round round) {
        // A change under way goes on; the next look is soon enough for what changes meanwhile.
        if (threads.pending(name).isPresent() || !round.begun.add(name)) {
            return;
        }
        ModelEntry entry = models.entry(name);
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
            LOG.error("Looking for changes of model '{}' failed unexpectedly", name, e);
        }
    }

    /** Begins nothing more, and waits for changes under way; false when that takes longer than {@code grace}. */
    boolean close(Duration grace) {
        return threads.close(grace);
    }
}
