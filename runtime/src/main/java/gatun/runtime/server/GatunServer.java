// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ControlMode;
import gatun.runtime.EngineStatistics;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerExit;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.VersionCounters;
import gatun.runtime.cache.ResponseCache;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.AccessLog.RecordedLog;
import gatun.runtime.logging.AccessLog.RecordedLog.RequestWatch;
import gatun.runtime.logging.LogControl;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.repository.ChangeListeners;
import gatun.runtime.repository.ModelRepository;
import gatun.runtime.tracing.Tracing;
import gatun.spi.Setting;
import gatun.wire.inference.ModelConfig;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server without its sockets. Owns its models and engines; the buffer pool and the regions are its caller's. */
public final class GatunServer implements InferenceServer {
    private static final Logger LOG = LoggerFactory.getLogger(GatunServer.class);

    private final ServerOptions options;
    private final ServerParts parts;
    private final ServerMetadata metadata;
    private final BufferPool buffers;
    private final ModelRepository repository;
    private final ChangeListeners listeners;
    private final List<Hold> gpuWatches;
    private final RequestLimits limits;
    private final HeapBudget heap;
    private final RecordedLog accessLog;
    private final RequestExecutor executor;
    private final RunPlacement placement;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean exiting;
    private volatile boolean draining;

    private GatunServer(ServerOptions options, ServerParts parts) {
        this.options = options;
        this.parts = parts;
        metadata = options.metadata();
        buffers = options.buffers;
        limits = options.limits.request();
        heap = new HeapBudget(options.limits.heapByteSize());
        accessLog = new RecordedLog(options.accessLog);
        placement = options.placement();
        repository = parts.repository();
        executor = new RequestExecutor(repository, accessLog, this::exiting);
        listeners = parts.listeners();
        gpuWatches = CudaDevices.find().all().stream()
                .map(gpu -> gpu.onFailure(listeners::changed))
                .toList();
    }

    /**
     * Loads the models and returns when each is ready or has, in {@link #index}, a reason why not.
     *
     * @throws GatunException when a model repository cannot be read, and need be; nothing is left open then
     */
    public static GatunServer open(ServerOptions options) {
        GatunServer server = withoutModels(options);
        try {
            server.loadModels();
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
        return server;
    }

    /** A server before {@link #loadModels}. Throws {@link GatunException} when a setting of an engine is wrong. */
    public static GatunServer withoutModels(ServerOptions options) {
        return new GatunServer(options, ServerParts.open(options));
    }

    /**
     * Loads the models, once, and returns when each is ready or has, in {@link #index}, a reason why not.
     *
     * @throws GatunException when a model repository cannot be read, and need be; the server is to be closed then
     */
    public void loadModels() {
        ModelSettings.Control control = options.models.control();
        control.loadModels().ifPresentOrElse(repository::loadOnly, repository::loadAll);
        if (control.mode() == ControlMode.POLL) {
            repository.follow(control.pollInterval());
        }
    }

    /** What the engines declare of themselves. */
    public EngineCatalog engineCatalog() {
        return parts.backends().catalog();
    }

    @Override
    public ServerMetadata metadata() {
        return metadata;
    }

    @Override
    public boolean live() {
        requireOpen();
        return true;
    }

    @Override
    public boolean ready() {
        requireOpen();
        return !draining
                && repository.readable()
                && (!options.models.control().strictReadiness()
                        || repository.served().ready());
    }

    @Override
    public boolean exiting() {
        return exiting;
    }

    @Override
    public ModelVersion model(String name, String version) {
        if (accessLog.isOn()) {
            AccessEntry.noteModel(name, version);
        }
        return repository.model(name, version);
    }

    @Override
    public ModelVersion model(ModelIdentifier model, String version) {
        return repository.model(model, version);
    }

    @Override
    public List<ModelStatus> index() {
        return repository.served().index();
    }

    @Override
    public List<ModelStatus> states() {
        return repository.served().states();
    }

    @Override
    public ControlMode controlMode() {
        return repository.controlMode();
    }

    @Override
    public Optional<ModelConfig> writtenConfig(String name) {
        return repository.served().writtenConfig(name);
    }

    @Override
    public void load(String name, ModelOverride override) {
        requireOpen();
        repository.load(name, override);
    }

    @Override
    public void unload(String name, boolean dependents) {
        requireOpen();
        repository.unload(name, dependents);
    }

    /** The models that the repositories hold, loaded or not; several of one name only with namespaces. */
    public Set<ModelIdentifier> models() {
        return repository.served().models();
    }

    /** The versions of a model that answer now, ascending. */
    public List<? extends ModelVersion> readyVersions(ModelIdentifier model) {
        return repository.served().readyVersions(model);
    }

    /** As {@link #load(String, ModelOverride)}, of this model alone; {@code override} has no files. */
    public void load(ModelIdentifier model, ModelOverride override) {
        requireOpen();
        repository.load(model, override);
    }

    /** As {@link #unload(String, boolean)}, of this model alone. */
    public void unload(ModelIdentifier model, boolean dependents) {
        requireOpen();
        repository.unload(model, dependents);
    }

    @Override
    public OptionalLong labelled(String model, String label) {
        return repository.labelled(model, label);
    }

    @Override
    public List<ListedModel> listed() {
        return repository.listed();
    }

    @Override
    public void register(List<ListedModel> models) {
        requireOpen();
        repository.register(models);
    }

    @Override
    public void unregister(Collection<String> names) {
        repository.unregister(names);
    }

    @Override
    public void replaceListed(List<ListedModel> models) {
        requireListing();
        repository.replaceListed(models);
    }

    @Override
    public void reloadListed(List<ListedModel> models) {
        requireListing();
        repository.reloadListed(models);
    }

    @Override
    public List<ListedModel> admitListed(List<ListedModel> models) {
        requireListing();
        return repository.admitListed(models);
    }

    private void requireListing() {
        requireOpen();
        if (options.listed.isEmpty()) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the server was not started with a list of models that could be replaced; start it with "
                            + Setting.MODEL_CONFIG_FILE + ", or with " + Setting.MODEL_NAME + " and "
                            + Setting.MODEL_BASE_PATH);
        }
    }

    private void requireOpen() {
        if (exiting) {
            throw ServerExit.refusal();
        }
    }

    /** Refuses new requests and changes of models; accepted requests go on. Called before the listeners stop. */
    public void announceStop() {
        exiting = true;
        listeners.changed();
    }

    /** From now on the server is not ready, and serves as before; {@link #announceStop} follows. */
    public void announceDrain() {
        draining = true;
        listeners.changed();
    }

    @Override
    public Subscription onChange(Runnable listener) {
        return listeners.add(listener);
    }

    @Override
    public List<ModelStatistics> statistics() {
        return repository.served().statistics();
    }

    @Override
    public List<ModelLatencies> latencies() {
        return repository.served().latencies();
    }

    @Override
    public void forEachReady(VersionCounters.Look look) {
        repository.served().forEachReady(look);
    }

    @Override
    public List<EngineStatistics> engines() {
        return parts.backends().statistics();
    }

    @Override
    public MetricSource modelMetrics() {
        return parts.metrics();
    }

    @Override
    public Optional<ModelMemoryUse> modelMemory() {
        return repository.memory();
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        return executor.infer(request);
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        executor.infer(request, receiver);
    }

    @Override
    public LogControl log() {
        return options.log;
    }

    @Override
    public Tracing tracing() {
        return options.tracing;
    }

    @Override
    public AccessLog accessLog() {
        return accessLog;
    }

    @Override
    public RunPlacement placement() {
        return placement;
    }

    @Override
    public void watchRequests(RequestWatch watch) {
        accessLog.watch(watch);
    }

    @Override
    public RegionRegistry regions() {
        return options.regions;
    }

    @Override
    public RequestLimits limits() {
        return limits;
    }

    @Override
    public HeapBudget heap() {
        return heap;
    }

    @Override
    public BufferPool buffers() {
        return buffers;
    }

    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        announceStop();
        if (repository.close(options.exitTimeout)) {
            parts.backends().close();
        } else {
            LOG.warn(
                    "Engines are still at work, within requests after {} s, or within loads, and are left to the end of the"
                            + " process",
                    options.exitTimeout.toSeconds());
        }
        parts.cache().ifPresent(ResponseCache::close);
        options.tracing.close();
        gpuWatches.forEach(Hold::close);
    }
}
