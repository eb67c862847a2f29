// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.runtime.BatchingRules;
import gatun.runtime.ControlMode;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelSettings.Control;
import gatun.runtime.RepositoryRefresh;
import gatun.runtime.ServedPath;
import gatun.runtime.ServerMetadata;
import gatun.runtime.WarmUpSource;
import gatun.runtime.cache.LocalCache;
import gatun.runtime.cache.RemoteCache;
import gatun.runtime.cache.ResponseCache;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.LogControl;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.repository.IsolationRule;
import gatun.runtime.repository.LoadResources;
import gatun.runtime.repository.ModelLocations;
import gatun.runtime.tracing.Tracing;
import gatun.spi.Backend;
import gatun.spi.Isolation;
import gatun.spi.ResponseStore;
import gatun.spi.Tuning.Subject;
import gatun.spi.discovery.InstalledBackends;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** The options of a {@link GatunServer}, as a builder: each method changes one. Used by one thread. */
public final class ServerOptions {
    /** How long running requests may take when the server closes, without {@link #exitTimeout}. */
    public static final Duration DEFAULT_EXIT_TIMEOUT = Duration.ofSeconds(30);

    final BufferPool buffers;
    final RegionRegistry regions;
    private final List<Path> repositories = new ArrayList<>();
    private final List<ServedPath.SingleModel> singleModels = new ArrayList<>();
    Optional<List<ListedModel>> listed = Optional.empty();
    private final List<Path> reloadFolders = new ArrayList<>();
    final List<Backend> backends = new ArrayList<>();
    final Map<String, Map<String, String>> backendOptions = new LinkedHashMap<>();
    Optional<InstalledBackends> installed = Optional.empty();
    ModelSettings models = ModelSettings.STANDARD;
    IsolationRule isolation = new IsolationRule(Optional.empty(), Set.of());
    private String id = ServerMetadata.STANDARD_NAME;
    private String version = "unknown";
    private WarmUpSource warmUps = WarmUpSource.NONE;
    Consumer<Runnable> stopping = action -> {};
    private BatchingRules batching = BatchingRules.NONE;
    private long responseCacheByteSize;
    private Optional<ResponseStore> responseStore = Optional.empty();
    LimitSettings limits = LimitSettings.standard();
    LogControl log = LogControl.fixed();
    Tracing tracing = Tracing.off();
    AccessLog accessLog = AccessLog.OFF;
    private Consumer<ModelConfig> configurationRule = config -> {};
    Optional<RepositoryRefresh> repositoryRefresh = Optional.empty();
    Duration exitTimeout = DEFAULT_EXIT_TIMEOUT;

    private ServerOptions(BufferPool buffers, RegionRegistry regions) {
        this.buffers = buffers;
        this.regions = regions;
    }

    /** Options for a server with the pool {@code buffers} and the clients' {@code regions}; it owns neither. */
    public static ServerOptions of(BufferPool buffers, RegionRegistry regions) {
        return new ServerOptions(buffers, regions);
    }

    /** Adds a directory that holds models. */
    public ServerOptions repository(Path directory) {
        repositories.add(directory);
        return this;
    }

    /** Serves what lies at a path: a directory that holds models, or one model. */
    public ServerOptions path(ServedPath path) {
        switch (path) {
            case ServedPath.Repository repository -> repositories.add(repository.folder());
            case ServedPath.SingleModel model -> singleModels.add(model);
        }
        return this;
    }

    /** Serves these models too; {@link InferenceServer#replaceListed} may replace them, from the folders beside. */
    public ServerOptions listed(List<ListedModel> models) {
        listed = Optional.of(List.copyOf(models));
        return this;
    }

    /** Lets clients list models from the folders in this one too, whoever may write to it. */
    public ServerOptions reloadFolder(Path folder) {
        reloadFolders.add(folder);
        return this;
    }

    /** Adds an engine beside those that {@link java.util.ServiceLoader} finds; it hides one of the same name. */
    public ServerOptions backend(Backend backend) {
        backends.add(backend);
        return this;
    }

    /** Takes these engines and no others but those of {@link #backend}; the server closes them. */
    public ServerOptions installed(InstalledBackends engines) {
        installed = Optional.of(engines);
        return this;
    }

    /** Lets models run in {@code processes} where their configuration, or else their engine in {@code names}, asks. */
    public ServerOptions isolation(Isolation processes, Set<String> names) {
        isolation = new IsolationRule(Optional.of(processes), names);
        return this;
    }

    /** Sets an option of an engine. */
    public ServerOptions backendOption(String backend, String key, String value) {
        backendOptions.computeIfAbsent(backend, name -> new LinkedHashMap<>()).put(key, value);
        return this;
    }

    /** What the operator decides about all models; {@link ModelSettings#STANDARD} without this call. */
    public ServerOptions models(ModelSettings settings) {
        models = settings;
        return this;
    }

    /** Sets who decides which models are loaded. */
    public ServerOptions controlMode(ControlMode mode) {
        return control(mode, models.control().pollInterval(), models.control().loadModels());
    }

    /** Sets the time between two looks at the repositories, where the server follows their changes. */
    public ServerOptions pollInterval(Duration interval) {
        return control(models.control().mode(), interval, models.control().loadModels());
    }

    /** Loads only these models at start. */
    public ServerOptions onlyModels(List<String> names) {
        return control(models.control().mode(), models.control().pollInterval(), Optional.of(List.copyOf(names)));
    }

    private ServerOptions control(ControlMode mode, Duration pollInterval, Optional<List<String>> loadModels) {
        Control old = models.control();
        return models(models.with(
                new Control(mode, pollInterval, loadModels, old.exitOnError(), old.strictReadiness(), old.logged())));
    }

    /** The name of the server in metadata. */
    public ServerOptions id(String newId) {
        id = newId;
        return this;
    }

    /** The version of Gatun that metadata tells. */
    public ServerOptions version(String newVersion) {
        version = newVersion;
        return this;
    }

    /** Requests that models answer before they serve, beside those of their configurations; none without this call. */
    public ServerOptions warmUps(WarmUpSource source) {
        warmUps = source;
        return this;
    }

    /** Gives {@code registration} the action, for any thread, that ends loads if the server stops while opening. */
    public ServerOptions whenStopping(Consumer<Runnable> registration) {
        stopping = registration;
        return this;
    }

    /** How requests share runs of models whose configuration does not say it; without this call, not at all. */
    public ServerOptions batching(BatchingRules rules) {
        batching = rules;
        return this;
    }

    /** The limit of bytes for cached responses, of models that ask for caching; 0, the default, for none. */
    public ServerOptions responseCacheByteSize(long byteSize) {
        responseCacheByteSize = byteSize;
        return this;
    }

    /** Keeps responses in {@code store} instead; the server owns it, also when it cannot be opened. */
    public ServerOptions responseStore(ResponseStore store) {
        responseStore = Optional.of(store);
        return this;
    }

    /** Brings directories of models up to date before they are looked at. */
    public ServerOptions repositoryRefresh(RepositoryRefresh refresh) {
        repositoryRefresh = Optional.of(refresh);
        return this;
    }

    /** How much clients may ask for; {@link LimitSettings#standard} without this call. */
    public ServerOptions limits(LimitSettings newLimits) {
        limits = newLimits;
        return this;
    }

    /** The log, as far as clients may change it; without this call they may not. */
    public ServerOptions log(LogControl control) {
        log = control;
        return this;
    }

    /** Where a line for each request goes; nowhere without this call. */
    public ServerOptions accessLog(AccessLog newAccessLog) {
        accessLog = newAccessLog;
        return this;
    }

    /** Which requests are traced; none without this call. The server closes it. */
    public ServerOptions tracing(Tracing newTracing) {
        tracing = newTracing;
        return this;
    }

    /** A further rule for complete configurations, such as a protocol's. Its failure is the load's, with its text. */
    public ServerOptions configurationRule(Consumer<ModelConfig> rule) {
        configurationRule = rule;
        return this;
    }

    /** How long running requests may take when the server closes. */
    public ServerOptions exitTimeout(Duration timeout) {
        exitTimeout = timeout;
        return this;
    }

    ModelLocations locations() {
        return new ModelLocations(repositories, singleModels, listed.orElse(List.of()), reloadFolders);
    }

    /** @param cached puts the cache of responses before a model that wants it */
    LoadResources loadResources(UnaryOperator<ServedModel> cached) {
        return new LoadResources(
                buffers,
                limits.model(),
                warmUps,
                batching,
                configurationRule,
                new LoadResources.Caching(cached, responseStore.isPresent()));
    }

    ServerMetadata metadata() {
        return new ServerMetadata(id, version, ServerMetadata.extensions(regions.supportsCuda()));
    }

    RunPlacement placement() {
        return RunPlacement.of(models.runs().learned().contains(Subject.THREADS));
    }

    /** The cache of responses; empty for none. */
    Optional<ResponseCache> openCache() {
        if (responseStore.isPresent()) {
            return Optional.of(new RemoteCache(responseStore.get(), buffers));
        }
        return responseCacheByteSize == 0 ? Optional.empty() : Optional.of(new LocalCache(responseCacheByteSize));
    }
}
