// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.runtime.BatchingRules;
import gatun.runtime.ControlMode;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.RepositoryRefresh;
import gatun.runtime.ResourceAmount;
import gatun.runtime.ServedPath;
import gatun.runtime.ServerMetadata;
import gatun.runtime.WarmUpSource;
import gatun.runtime.cache.LocalCache;
import gatun.runtime.cache.RemoteCache;
import gatun.runtime.cache.ResponseCache;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.LogControl;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.runtime.repository.IsolationRule;
import gatun.runtime.repository.RepositorySettings;
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
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/** The options of a {@link GatunServer}, as a builder: each method changes one. Used by one thread. */
public final class ServerOptions {
    /** How many models are loaded at a time without {@link #loadThreads}. */
    public static final int DEFAULT_LOAD_THREADS = 4;

    /** How long running requests may take when the server closes, without {@link #exitTimeout}. */
    public static final Duration DEFAULT_EXIT_TIMEOUT = Duration.ofSeconds(30);

    /** How long there is between two looks at the repositories without {@link #pollInterval}. */
    public static final Duration DEFAULT_POLL_INTERVAL = Duration.ofSeconds(15);

    private static final int DEFAULT_QUEUE_LIMIT = 4096;

    private final BufferPool buffers;
    private final RegionRegistry regions;
    private final List<Path> repositories = new ArrayList<>();
    private final List<ServedPath.SingleModel> models = new ArrayList<>();
    private Optional<List<ListedModel>> listed = Optional.empty();
    private final List<Path> reloadFolders = new ArrayList<>();
    private final List<Backend> backends = new ArrayList<>();
    private final Map<String, Map<String, String>> backendOptions = new LinkedHashMap<>();
    private Optional<InstalledBackends> installed = Optional.empty();
    private IsolationRule isolation = new IsolationRule(Optional.empty(), Set.of());
    private Optional<List<String>> modelNames = Optional.empty();
    private ControlMode controlMode = ControlMode.NONE;
    private Duration pollInterval = DEFAULT_POLL_INTERVAL;
    private String configName = "";
    private String id = ServerMetadata.STANDARD_NAME;
    private String version = "unknown";
    private int loadThreads = DEFAULT_LOAD_THREADS;
    private int loadRetries;
    private WarmUpSource warmUps = WarmUpSource.NONE;
    private Duration loadRetryInterval = Duration.ZERO;
    private Duration loadTimeout = Duration.ZERO;
    private Consumer<Runnable> stopping = action -> {};
    private int queueLimit = DEFAULT_QUEUE_LIMIT;
    private BatchingRules batching = BatchingRules.NONE;
    private boolean trustsClients;
    private Set<Subject> learned = EnumSet.allOf(Subject.class);
    private Optional<List<ResourceAmount>> rateLimit = Optional.empty();
    private long responseCacheByteSize;
    private Optional<ResponseStore> responseStore = Optional.empty();
    private LimitSettings limits = LimitSettings.standard();
    private LogControl log = LogControl.fixed();
    private Tracing tracing = Tracing.off();
    private AccessLog accessLog = AccessLog.OFF;
    private Consumer<ModelConfig> configurationRule = config -> {};
    private OptionalLong modelMemory = OptionalLong.empty();
    private boolean autoComplete = true;
    private boolean readableAtStart = true;
    private Optional<RepositoryRefresh> repositoryRefresh = Optional.empty();
    private boolean modelNamespacing;
    private boolean strictReadiness = true;
    private boolean logged = true;
    private Duration exitTimeout = DEFAULT_EXIT_TIMEOUT;

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
            case ServedPath.SingleModel model -> models.add(model);
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

    /**
     * Lets models run in processes of their own, as their configurations ask for it.
     *
     * @param processes makes the engines for them
     * @param names the engines whose models do so where their configurations do not say it
     */
    public ServerOptions isolation(Isolation processes, Set<String> names) {
        isolation = new IsolationRule(Optional.of(processes), names);
        return this;
    }

    /** Sets an option of an engine. */
    public ServerOptions backendOption(String backend, String key, String value) {
        backendOptions.computeIfAbsent(backend, name -> new LinkedHashMap<>()).put(key, value);
        return this;
    }

    /** Sets who decides which models are loaded; {@link ControlMode#NONE} without this call. */
    public ServerOptions controlMode(ControlMode mode) {
        controlMode = mode;
        return this;
    }

    /** How long after one look at the repositories the next one comes, where the server follows their changes. */
    public ServerOptions pollInterval(Duration interval) {
        pollInterval = interval;
        return this;
    }

    /** Takes {@code configs/<name>.pbtxt} of each model that has it instead of its config.pbtxt. */
    public ServerOptions configName(String name) {
        configName = name;
        return this;
    }

    /** Loads only these models at start; without this call, all that the repositories hold. */
    public ServerOptions onlyModels(List<String> names) {
        modelNames = Optional.of(List.copyOf(names));
        return this;
    }

    /** Lets engines use clients' memory in place always; otherwise only where clients' changes do no harm. */
    public ServerOptions trustClients(boolean enabled) {
        trustsClients = enabled;
        return this;
    }

    /**
     * What the server may learn from runs, to run those that follow in the way that was fastest; everything without this
     * call.
     *
     * @param subjects none for the plain way of everything
     */
    public ServerOptions learned(Set<Subject> subjects) {
        learned = Set.copyOf(subjects);
        return this;
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

    /** How many models are loaded at a time; at least 1. */
    public ServerOptions loadThreads(int count) {
        loadThreads = Math.max(1, count);
        return this;
    }

    /** How often a load that fails is tried again before it counts as failed; 0, which is the default, for never. */
    public ServerOptions loadRetries(int count) {
        loadRetries = Math.max(0, count);
        return this;
    }

    /** Requests that models answer before they serve, beside those of their configurations; none without this call. */
    public ServerOptions warmUps(WarmUpSource source) {
        warmUps = source;
        return this;
    }

    /** How long to wait before a load is tried again; not at all without this call. */
    public ServerOptions loadRetryInterval(Duration interval) {
        loadRetryInterval = interval;
        return this;
    }

    /**
     * How long the load of a version may take before it is ended: its process is killed, or, inside the server, it is
     * abandoned. Zero, which is the default, for as long as it likes.
     */
    public ServerOptions loadTimeout(Duration timeout) {
        loadTimeout = timeout;
        return this;
    }

    /**
     * How to hear that the server is to stop while it is being opened.
     *
     * @param registration is given what is to be run then, from any thread: it ends the loads under way
     */
    public ServerOptions whenStopping(Consumer<Runnable> registration) {
        stopping = registration;
        return this;
    }

    /**
     * The most bytes that models may take together, counted by their files. Each is then loaded by the first request
     * that needs it, and those that were not used for the longest time are closed to make room. Without this call all
     * are loaded and stay.
     */
    public ServerOptions modelMemory(long byteSize) {
        modelMemory = OptionalLong.of(byteSize);
        return this;
    }

    /** How many requests may wait for a model whose configuration sets no limit; at least 1. */
    public ServerOptions queueLimit(int count) {
        queueLimit = Math.max(1, count);
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

    /**
     * Lets instances run only while the resources are there that their configuration asks for; without this call, at
     * any time.
     *
     * @param amounts how much there is; of a resource that is not named, the most that any instance asks for
     */
    public ServerOptions rateLimit(List<ResourceAmount> amounts) {
        rateLimit = Optional.of(List.copyOf(amounts));
        return this;
    }

    /** Whether configurations are completed from the model's files. */
    public ServerOptions autoComplete(boolean enabled) {
        autoComplete = enabled;
        return this;
    }

    /** Brings directories of models up to date before they are looked at. */
    public ServerOptions repositoryRefresh(RepositoryRefresh refresh) {
        repositoryRefresh = Optional.of(refresh);
        return this;
    }

    /** Whether opening fails when a directory of models cannot be read; otherwise the server is not ready meanwhile. */
    public ServerOptions readableAtStart(boolean required) {
        readableAtStart = required;
        return this;
    }

    /** Whether the server counts as ready only when every model is. */
    public ServerOptions strictReadiness(boolean enabled) {
        strictReadiness = enabled;
        return this;
    }

    /** Whether the log tells which models come and go; without this call it does, and it tells failures in any case. */
    public ServerOptions logged(boolean enabled) {
        logged = enabled;
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

    /** Whether models of several repositories may have the same name; false without this call. */
    public ServerOptions modelNamespacing(boolean enabled) {
        modelNamespacing = enabled;
        return this;
    }

    /** How long running requests may take when the server closes. */
    public ServerOptions exitTimeout(Duration timeout) {
        exitTimeout = timeout;
        return this;
    }

    BufferPool buffers() {
        return buffers;
    }

    RegionRegistry regions() {
        return regions;
    }

    Optional<List<ListedModel>> listed() {
        return listed;
    }

    List<Backend> backends() {
        return backends;
    }

    Optional<InstalledBackends> installed() {
        return installed;
    }

    IsolationRule isolation() {
        return isolation;
    }

    Map<String, Map<String, String>> backendOptions() {
        return backendOptions;
    }

    Optional<List<String>> modelNames() {
        return modelNames;
    }

    ControlMode controlMode() {
        return controlMode;
    }

    Optional<RepositoryRefresh> repositoryRefresh() {
        return repositoryRefresh;
    }

    Duration pollInterval() {
        return pollInterval;
    }

    /** Where models are and how they are loaded and run. */
    RepositorySettings repository() {
        return new RepositorySettings(
                controlMode,
                new RepositorySettings.Sources(
                        repositories,
                        models,
                        listed.orElse(List.of()),
                        reloadFolders,
                        configName,
                        autoComplete,
                        modelNamespacing,
                        readableAtStart),
                new RepositorySettings.Loading(
                        loadThreads,
                        loadRetries,
                        loadRetryInterval,
                        loadTimeout,
                        warmUps,
                        configurationRule,
                        responseStore.isPresent(),
                        modelMemory),
                new RepositorySettings.Scheduling(
                        queueLimit,
                        batching,
                        rateLimit.map(RateLimiter::of).orElseGet(RateLimiter::off),
                        trustsClients,
                        learned),
                limits.model(),
                logged);
    }

    ServerMetadata metadata() {
        return new ServerMetadata(id, version, ServerMetadata.extensions(regions.supportsCuda()));
    }

    LimitSettings limits() {
        return limits;
    }

    LogControl log() {
        return log;
    }

    AccessLog accessLog() {
        return accessLog;
    }

    RunPlacement placement() {
        return RunPlacement.of(learned.contains(Subject.THREADS));
    }

    Tracing tracing() {
        return tracing;
    }

    /** The cache of responses; empty for none. */
    Optional<ResponseCache> openCache() {
        if (responseStore.isPresent()) {
            return Optional.of(new RemoteCache(responseStore.get(), buffers));
        }
        return responseCacheByteSize == 0 ? Optional.empty() : Optional.of(new LocalCache(responseCacheByteSize));
    }

    boolean strictReadiness() {
        return strictReadiness;
    }

    Consumer<Runnable> stopping() {
        return stopping;
    }

    Duration exitTimeout() {
        return exitTimeout;
    }
}
