// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelSettings;
import gatun.runtime.RepositoryRefresh;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.repository.ServedModels.RepositoryMembers;
import gatun.runtime.residency.ModelMemory;
import gatun.spi.Setting;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The models of the server. Owns those that it loaded, and the threads that do it. Thread-safe. */
public final class ModelRepository {
    private static final Logger LOG = LoggerFactory.getLogger(ModelRepository.class);

    private final ModelList list = new ModelList();
    private final VersionLabels labels;
    private final ReloadFolders reloadFolders;
    private final TemporaryFolder files;
    private final ModelSources sources;
    private final ControlMode controlMode;
    private final ModelTable models;
    private final ModelLoader loader;
    private final Optional<ModelMemory> memory;
    private final Unloader unloader = new Unloader();
    private final ServedModels served;
    private final ModelReload reload;
    private final ModelLifeCycle lifeCycle;
    private final boolean readableAtStart;

    /** Whether the repositories could not be read at the start, nor since. */
    private volatile boolean unread;

    /** Set by the thread that opens the server, before others know it. */
    private ModelRefresh refresh;

    private @Nullable RepositoryPoll poll;

    /**
     * A repository without any model loaded. {@code listeners} hear of every change; {@code files}, owned from now on,
     * are for those of load requests.
     */
    public ModelRepository(
            ModelSettings settings,
            ModelLocations locations,
            LoadResources resources,
            Backends backends,
            ChangeListeners listeners,
            TemporaryFolder files) {
        this.files = files;
        sources = new ModelSources(locations, settings.loading(), list, files, backends);
        list.replace(locations.listed());
        reloadFolders = new ReloadFolders(locations.reloadFolders());
        reloadFolders.list(locations.listed());
        refresh = new ModelRefresh(Optional.empty(), sources);
        files.removeAbandoned();
        controlMode = settings.control().mode();
        readableAtStart = settings.control().exitOnError();
        models = new ModelTable(settings.loading().namespacing(), listeners);
        labels = new VersionLabels(list, models);
        listeners.add(labels::settle);
        served = new ServedModels(models, sources);
        OptionalLong limit = settings.loading().memoryByteSize();
        memory = limit.isPresent()
                ? Optional.of(
                        new ModelMemory(limit.getAsLong(), settings.loading().threads(), listeners::changed))
                : Optional.empty();
        loader = new ModelLoader(
                settings, resources, backends, namespace -> new RepositoryMembers(models, namespace), memory);
        reload = new ModelReload(loader, unloader, listeners, settings.control().logged());
        lifeCycle = new ModelLifeCycle(
                sources,
                models,
                new LoadThreads(settings.loading().threads()),
                reload,
                resources.limits().models());
    }

    /** Has folders brought up to date from now on, before anything is loaded. */
    public void refreshBy(RepositoryRefresh by) {
        refresh = new ModelRefresh(Optional.of(by), sources);
    }

    /** Loads every model and waits until each is ready or failed. Throws if a required directory is unreadable. */
    public void loadAll() {
        start(found -> found);
    }

    /** After its end, a model that is loaded is loaded at once, also where others wait for their first request. */
    private void start(UnaryOperator<SortedMap<ModelIdentifier, RepositoryScan.Finding>> choosing) {
        scanAtStart().map(choosing).ifPresent(lifeCycle::start);
        loader.loadAtOnce();
    }

    /** The models of the repositories; empty when they cannot be read and the server is to live all the same. */
    private Optional<SortedMap<ModelIdentifier, RepositoryScan.Finding>> scanAtStart() {
        try {
            return Optional.of(sources.scan());
        } catch (GatunException e) {
            if (readableAtStart) {
                throw e;
            }
            LOG.error(
                    "The model repositories cannot be read; the server is not ready until they can: {}",
                    e.getMessage());
            unread = true;
            return Optional.empty();
        }
    }

    /**
     * Loads the named models and waits until each is ready or has a reason why not.
     *
     * @throws GatunException when a directory of the repository cannot be read, and need be, or a name is not one of a
     *     directory
     */
    public void loadOnly(List<String> names) {
        names.forEach(ModelName::check);
        names.forEach(this::refreshAtStart);
        start(found -> chosen(names, found));
    }

    private void refreshAtStart(String name) {
        try {
            refresh.model(name);
        } catch (GatunException e) {
            // Where it was not left either, its load fails.
            LOG.warn("Model '{}' is loaded as it was left: {}", name, e.getMessage());
        }
    }

    private static SortedMap<ModelIdentifier, RepositoryScan.Finding> chosen(
            List<String> names, SortedMap<ModelIdentifier, RepositoryScan.Finding> chosen) {
        List<String> present =
                chosen.keySet().stream().map(ModelIdentifier::name).distinct().toList();
        chosen.keySet().removeIf(model -> !names.contains(model.name()));
        for (String name : names) {
            if (!present.contains(name)) {
                chosen.put(
                        ModelIdentifier.of(name),
                        new RepositoryScan.Finding.Conflict("there is no directory '" + name
                                + "' in the model repository; it holds: " + String.join(", ", present)));
            }
        }
        return chosen;
    }

    /** The models that are served because a list names them, by name. */
    public List<ListedModel> listed() {
        return List.copyOf(list.models().values());
    }

    /** Replaces the operator's list of models besides the repositories'; waits until they are loaded or failed. */
    public void replaceListed(List<ListedModel> models) {
        reloadFolders.list(models);
        followList(models);
    }

    /** As {@link #replaceListed}, by a client's; throws as {@link #admitListed}. */
    public void reloadListed(List<ListedModel> models) {
        followList(admitListed(models));
    }

    private void followList(List<ListedModel> models) {
        labels.replaceList(models);
        lifeCycle.pollAndWait();
        labels.warnOfStaying();
    }

    /** As {@link gatun.runtime.server.InferenceServer#labelled}. */
    public OptionalLong labelled(String model, String label) {
        return labels.version(model, label);
    }

    /** As {@link gatun.runtime.server.InferenceServer#admitListed}. */
    public List<ListedModel> admitListed(List<ListedModel> models) {
        return models.stream().map(reloadFolders::admit).toList();
    }

    /** As {@link gatun.runtime.server.InferenceServer#register}. */
    public void register(List<ListedModel> added) {
        requireExplicit();
        for (ListedModel model : added) {
            ModelName.check(model.name());
            if (!sources.named(model.name()).isEmpty()) {
                throw ModelList.conflict(model.name());
            }
        }
        lifeCycle.requireRoom(added);
        list.add(added);
    }

    /** As {@link gatun.runtime.server.InferenceServer#unregister}. */
    public void unregister(Collection<String> names) {
        list.remove(names);
        names.stream().flatMap(name -> models.named(name).stream()).forEach(models::removeUnused);
    }

    /** From now on follows the changes of the repositories, looking again after each {@code interval}. */
    public void follow(Duration interval) {
        poll = RepositoryPoll.start(interval, this::look);
    }

    private void look() {
        refresh.all();
        if (lifeCycle.poll()) {
            unread = false;
        }
    }

    /** As {@link gatun.runtime.server.InferenceServer#load}. */
    public void load(String name, ModelOverride override) {
        requireExplicit();
        if (override.files().isEmpty()) {
            bringUpToDate(name);
        }
        lifeCycle.load(name, override);
        unread = false;
    }

    /** As {@link gatun.runtime.server.GatunServer#load(ModelIdentifier, ModelOverride)}. */
    public void load(ModelIdentifier model, ModelOverride override) {
        requireExplicit();
        bringUpToDate(model.name());
        lifeCycle.load(model, override);
    }

    private void bringUpToDate(String name) {
        try {
            refresh.model(name);
        } catch (GatunException e) {
            if (e.code() == ErrorCode.UNAVAILABLE) {
                lifeCycle.refuse(name, e.getMessage());
            }
            throw e;
        }
    }

    /** As {@link gatun.runtime.server.GatunServer#unload(ModelIdentifier, boolean)}. */
    public void unload(ModelIdentifier model, boolean dependents) {
        requireExplicit();
        lifeCycle.unload(model, dependents);
    }

    /** As {@link gatun.runtime.server.InferenceServer#unload}. */
    public void unload(String name, boolean dependents) {
        requireExplicit();
        lifeCycle.unload(name, dependents);
    }

    private void requireExplicit() {
        if (controlMode != ControlMode.EXPLICIT) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "explicit model load / unload is not allowed if polling is enabled; a server that is started with "
                            + Setting.MODEL_CONTROL_MODE.with("explicit") + " allows it");
        }
    }

    /**
     * The version that is to answer, as the client wrote it; empty for the highest that is ready. Throws NOT_FOUND,
     * UNAVAILABLE or INVALID_ARGUMENT with the protocol's text.
     */
    public ServedModel model(String name, String version) {
        long number = version.isEmpty() ? -1 : VersionText.parse(version);
        ModelEntry entry = models.resolve(name);
        return version.isEmpty() ? entry.latest() : entry.version(number);
    }

    /** The version of one model, as {@link #model(String, String)}. */
    public ServedModel model(ModelIdentifier model, String version) {
        ModelEntry entry = models.find(model).orElseThrow(() -> ModelEntry.unknown(model.name()));
        return version.isEmpty() ? entry.latest() : entry.version(VersionText.parse(version));
    }

    /**
     * The version that took the place of one which was found ready and was replaced before the request began, so that a
     * reload interrupts nobody.
     *
     * @param stopped the version that was found
     * @param failure its failure of the request; thrown when it is ready all the same
     * @throws GatunException the failure that a new request gets, when nothing took its place
     */
    public ServedModel successor(ServedModel stopped, InferenceRequest request, VersionRetiredException failure) {
        if (stopped.ready()) {
            throw failure;
        }
        ModelEntry entry = models.resolve(stopped.name());
        long version = request.versionLabel()
                .map(label -> labels.version(stopped.name(), label))
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .orElse(stopped.version());
        ServedModel next = request.anyVersion() ? entry.latest() : entry.version(version);
        if (!next.ready()) {
            throw ModelEntry.notReady(stopped.name(), next.versionText());
        }
        return next;
    }

    /** Whether the repositories could be read at the start, or since. */
    public boolean readable() {
        return !unread;
    }

    /** Who decides which models are loaded. */
    public ControlMode controlMode() {
        return controlMode;
    }

    /** What is served, to be looked at. */
    public ServedModels served() {
        return served;
    }

    /** How much memory models take, where it has a limit. */
    public Optional<ModelMemoryUse> memory() {
        return memory.map(ModelMemory::use);
    }

    /**
     * Unloads every model: new requests are refused at once, accepted ones end within the grace. Returns whether
     * all ended; otherwise engines are still at work.
     */
    public boolean close(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        Optional.ofNullable(poll).ifPresent(RepositoryPoll::close);
        endLoads();
        boolean unloaded = unloadAll(deadline);
        boolean loaded = lifeCycle.close(remaining(deadline));
        // Models that were still being loaded until now.
        unloaded &= unloadAll(deadline);
        models.all().forEach(entry -> entry.attempted().ifPresent(ModelSource::discard));
        files.close();
        return loaded && unloaded && !loader.attempts().anyAbandoned();
    }

    /** Ends the loads under way; those that follow fail. The server stops, or was told to before it was open. */
    public void endLoads() {
        loader.stopLoading();
    }

    /** Unloads all models. A model that asks others goes before them: its requests may still need them. */
    private boolean unloadAll(long deadline) {
        Map<ModelIdentifier, Set<ModelIdentifier>> needs = new HashMap<>();
        models.all().stream()
                .filter(entry -> entry.versions().stream()
                        .anyMatch(version -> version.model().isPresent()))
                .forEach(entry -> needs.put(entry.model(), members(entry)));
        boolean ended = true;
        for (List<ModelIdentifier> round : DependencyOrder.closing(needs)) {
            round.stream()
                    .flatMap(model -> models.find(model).stream())
                    .forEach(entry -> reload.unload(entry, () -> {}));
            ended &= unloader.close(remaining(deadline));
        }
        // Versions that a change replaced meanwhile, of which no model knows any more.
        ended &= unloader.close(remaining(deadline));
        return ended;
    }

    private Set<ModelIdentifier> members(ModelEntry entry) {
        String namespace = entry.model().namespace();
        return entry.versions().stream()
                .flatMap(version -> version.model().stream())
                .flatMap(model -> model.dependencies().stream())
                .flatMap(name -> Stream.ofNullable(models.member(namespace, name)))
                .map(ModelEntry::model)
                .collect(Collectors.toSet());
    }

    private static Duration remaining(long deadline) {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }
}
