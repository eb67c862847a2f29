// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.isolation.ProcessIsolation;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.GatunException;
import gatun.protocol.Endpoint;
import gatun.protocol.ProtocolProvider;
import gatun.runtime.BatchingRules;
import gatun.runtime.EngineStatistics;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ServedPath;
import gatun.runtime.WarmUpSource;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.LogControl;
import gatun.runtime.repository.RepositoryAdvice;
import gatun.runtime.repository.ServedPaths;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.server.ServerOptions;
import gatun.server.settings.ModelListSettings;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServerSettings;
import gatun.server.settings.ServerSettings.MemorySettings;
import gatun.server.settings.ServerSettings.ResponseCacheSettings;
import gatun.server.settings.StartException;
import gatun.server.text.Version;
import gatun.server.warmup.StopWait;
import gatun.server.warmup.WarmUp;
import gatun.spi.Backend;
import gatun.spi.Setting;
import gatun.spi.discovery.InstalledBackends;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that runs: the buffer pool, the registered regions, the models and the listeners. Opened in this order and
 * closed in reverse: no request outlives the models, and no model the memory.
 */
final class Server implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);

    /** How long reading the bytes that clients have sent already may take when the server stops. */
    private static final Duration ARRIVAL = Duration.ofMillis(80);

    /** How long submitting a request may take that was begun behind a response which did not end its connection. */
    private static final Duration BEGIN = Duration.ofMillis(20);

    private final ResourceStack resources;
    private final ProtocolListeners listeners;
    private final GatunServer inference;
    private final List<Endpoint> endpoints;

    private Server(
            ResourceStack resources, ProtocolListeners listeners, GatunServer inference, List<Endpoint> endpoints) {
        this.resources = resources;
        this.listeners = listeners;
        this.inference = inference;
        this.endpoints = endpoints;
    }

    /**
     * Loads the models, and listens unless {@code stop} came before. The caller closes {@code accessLog}. Throws {@link
     * StartException}, with everything closed, when that is not possible.
     */
    static Server start(ServerSettings given, LogControl log, AccessLog accessLog, StartReport report, StopWait stop) {
        given.lifecycle().readyFile().ifPresent(ReadyFile::removeStale);
        if (given.models().control().exitOnError()) {
            given.models().sources().repositories().forEach(Server::requireFolder);
        }
        InstalledBackends installed =
                InstalledBackends.find(given.models().backends().directory());
        EngineCatalog engines = new EngineCatalog(installed.all());
        given.models().sources().repositories().stream()
                .flatMap(repository -> RepositoryAdvice.remarks(engines, repository).stream())
                .forEach(LOG::warn);
        ProtocolListeners listeners =
                new ProtocolListeners(given, given.listeners().endpoints());
        listeners.reserve();
        ResourceStack resources = new ResourceStack();
        try {
            FetchedModels fetched = resources.add(FetchedModels.open(given.models()));
            ServerSettings settings = given.with(fetched.models());
            boolean shared = !settings.models().backends().isolated().isEmpty();
            BufferPool buffers = resources.add(buffers(settings.memory(), shared));
            Gpus.prepare(CudaDevices.find(), settings.memory().devicePools(), buffers);
            SharedRegions regions = resources.add(SharedRegions.open(buffers));
            if (settings.memory().clientMemory().registration()) {
                LOG.info("Clients' shared memory is {}", regions.protection());
                if (settings.memory().trustedClients()) {
                    LOG.warn(
                            "Clients are trusted, by {}: one that changes its tensors during a run can read other"
                                    + " clients' or end the server",
                            Setting.TRUST_CLIENT_SHM);
                }
            }
            ProcessIsolation isolation = resources.add(new ProcessIsolation(
                    settings.models().backends().directory(), shared ? Optional.of(buffers.file()) : Optional.empty()));
            GatunServer inference = resources.add(
                    withoutModels(settings, log, accessLog, buffers, regions, isolation, installed, fetched, stop));
            FutureTask<Void> loads = new FutureTask<>(inference::loadModels, null);
            Thread.ofPlatform().daemon().name("models").start(loads);
            // Beside the loads, which leave processors idle while the first of them opens an engine.
            try {
                listeners.prepare(inference, fetched.watch(), resources);
            } finally {
                await(loads); // nothing is closed while models load
            }
            if (stop.isTold()) {
                return new Server(resources, listeners, inference, List.of());
            }
            List<ModelStatus> loaded = inference.index().stream()
                    .filter(model -> model.state() != ModelState.UNKNOWN)
                    .toList();
            report.models(loaded);
            requireAllModels(settings.models().control(), loaded, report);
            warmUp(settings, installed, inference, stop);
            if (stop.isTold()) {
                return new Server(resources, listeners, inference, List.of());
            }
            List<Endpoint> endpoints = listeners.listen();
            settings.models()
                    .sources()
                    .list()
                    .filter(list -> list.filePoll().isPositive())
                    .ifPresent(list -> resources.add(ModelListPoll.start(list, inference)));
            AutoCloseable announcement = inference::announceStop;
            resources.add(announcement);
            AutoCloseable lastCall = () -> letArrive(listeners);
            resources.add(lastCall);
            settings.lifecycle().readyFile().ifPresent(file -> resources.add(ReadyFile.write(file, endpoints)));
            return new Server(resources, listeners, inference, endpoints);
        } catch (Throwable t) {
            try {
                resources.close();
            } catch (RuntimeException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
    }

    private static void warmUp(
            ServerSettings settings, InstalledBackends installed, InferenceServer inference, StopWait stop) {
        Duration limit = settings.lifecycle().warmUp();
        if (limit.isPositive()) {
            Set<String> used =
                    inference.engines().stream().map(EngineStatistics::backend).collect(Collectors.toSet());
            used.removeAll(settings.models().backends().isolated());
            Optional<Backend> engine = installed.services().stream()
                    .filter(backend -> used.contains(backend.name())
                            && !backend.warmUpModels().isEmpty())
                    .findFirst();
            WarmUp.run(
                    limit, engine, (repository, sockets) -> PrivateServer.start(settings, repository, sockets), stop);
        }
    }

    /** A {@code shared} pool can be mapped by the processes of engines. */
    private static BufferPool buffers(MemorySettings memory, boolean shared) {
        long byteLimit = memory.bufferPoolByteSize();
        String setting = Setting.BUFFER_POOL_BYTE_SIZE.toString();
        BufferPool buffers = shared
                ? BufferPool.sharedWithReserve("gatun-buffers", byteLimit, setting)
                : BufferPool.withReserve(byteLimit, setting);
        buffers.limitLocked(memory.pinnedByteSize());
        return buffers;
    }

    /** The server without its sockets; valid until {@link #close}. */
    InferenceServer inference() {
        return inference;
    }

    List<Endpoint> endpoints() {
        return endpoints;
    }

    /** Reports the server as not ready while it goes on serving. {@link #close} follows. */
    void drain() {
        // First, so that whoever hears that the server is not ready finds that its responses end connections.
        listeners.drain();
        inference.announceDrain();
    }

    /** Reads the certificates anew, for connections that come from now on. */
    void reopen() {
        listeners.reopen();
    }

    /** Waits until the requests that are on their way are read; their connections end with the responses. */
    private static void letArrive(ProtocolListeners listeners) throws InterruptedException {
        listeners.endHttp();
        Thread.sleep(ARRIVAL);
        listeners.cutHttpPipelines();
        Thread.sleep(BEGIN);
    }

    /** Takes no more requests, lets running ones finish within the exit timeout, and gives everything back. */
    @Override
    public void close() {
        resources.close();
    }

    private static GatunServer withoutModels(
            ServerSettings settings,
            LogControl log,
            AccessLog accessLog,
            BufferPool buffers,
            RegionRegistry regions,
            ProcessIsolation isolation,
            InstalledBackends installed,
            FetchedModels fetched,
            StopWait stop) {
        ServedModelSettings models = settings.models();
        LimitSettings limits = settings.clients().limits();
        List<ProtocolProvider> protocols = settings.listeners().protocols();
        ServerOptions options = ServerOptions.of(buffers, regions)
                .id(settings.id())
                .version(Version.text())
                .log(log)
                .accessLog(accessLog)
                .isolation(isolation, models.backends().isolated())
                .tracing(settings.tracing().open())
                .models(models.forRuntime().trustingClients(settings.memory().trustedClients()))
                .whenStopping(stop::whenTold)
                .configurationRule(config -> protocols.forEach(protocol -> protocol.checkConfiguration(config)))
                .repositoryRefresh(fetched)
                .limits(limits)
                .exitTimeout(settings.lifecycle().exitTimeout());
        if (models.warmUpIterations() > 0) {
            options.warmUps(WarmUpSource.of(protocols.stream()
                    .map(protocol -> protocol.recordedRequests(buffers, limits, models.warmUpIterations()))
                    .toList()));
        }
        models.sources().repositories().forEach(options::repository);
        EngineCatalog engines = new EngineCatalog(installed.all());
        models.sources().paths().stream().map(path -> at(engines, path)).forEach(options::path);
        models.sources().list().ifPresent(list -> {
            options.listed(read(list));
            list.reloadFolders().forEach(options::reloadFolder);
        });
        batching(protocols).ifPresent(options::batching);
        options.installed(installed);
        models.backends()
                .options()
                .forEach((backend, values) ->
                        values.forEach((name, value) -> options.backendOption(backend, name, value)));
        settings.memory().responseCache().ifPresent(cache -> {
            switch (cache) {
                case ResponseCacheSettings.Local local -> options.responseCacheByteSize(local.byteSize());
                case ResponseCacheSettings.Shared shared -> options.responseStore(ResponseStores.open(shared));
            }
        });
        try {
            return GatunServer.withoutModels(options);
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    /** Throws {@link StartException} when a repository that must be readable is not. */
    private static void await(FutureTask<Void> loads) {
        try {
            loads.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GatunException refused) {
                throw new StartException(refused.getMessage(), refused);
            }
            throw new IllegalStateException("Models cannot be loaded", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartException("The start was interrupted while models were loaded", e);
        }
    }

    private static ServedPath at(EngineCatalog engines, Path path) {
        try {
            ServedPath found = ServedPaths.read(engines, path);
            if (found instanceof ServedPath.Repository repository) {
                RepositoryAdvice.remarks(engines, repository.folder()).forEach(LOG::warn);
            }
            return found;
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    private static List<ListedModel> read(ModelListSettings list) {
        try {
            return list.read();
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    private static Optional<BatchingRules> batching(List<ProtocolProvider> protocols) {
        try {
            return protocols.stream()
                    .flatMap(protocol -> protocol.batching().stream())
                    .findFirst();
        } catch (GatunException e) {
            throw new StartException(e.getMessage(), e);
        }
    }

    private static void requireFolder(Path repository) {
        if (!Files.isDirectory(repository)) {
            throw new StartException("--model-repository=" + repository
                    + " is not a folder" + RepositoryAdvice.insteadOf(repository)
                    + ". Start with --exit-on-error=false to have the server wait for it");
        }
    }

    private static void requireAllModels(ModelSettings.Control control, List<ModelStatus> models, StartReport report) {
        List<ModelStatus> failed = models.stream()
                .filter(model -> model.state() == ModelState.UNAVAILABLE)
                .toList();
        if (failed.isEmpty()) {
            return;
        }
        String what = failed.size() + (failed.size() == 1 ? " model" : " models") + " cannot be served"
                + report.reasons(failed);
        if (control.exitOnError()) {
            throw new StartException(what + " Start with --exit-on-error=false to serve the others");
        }
        if (control.strictReadiness()) {
            LOG.warn("{} /v2/health/ready answers 400 for that, unless --strict-readiness=false", what);
        } else {
            LOG.warn("{}", what);
        }
    }
}
