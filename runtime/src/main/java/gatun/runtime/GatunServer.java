package gatun.runtime;

import gatun.memory.BufferPool;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.RegionRegistry;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.repository.Backends;
import gatun.runtime.repository.ModelRepository;
import gatun.runtime.spi.Backend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server without its sockets. Owns its models and engines; the buffer pool and the regions are its caller's. */
public final class GatunServer implements InferenceServer {
    private static final Logger LOG = LoggerFactory.getLogger(GatunServer.class);

    private final ServerMetadata metadata;
    private final BufferPool buffers;
    private final RegionRegistry regions;
    private final Backends backends;
    private final ModelRepository repository;
    private final boolean strictReadiness;
    private final Duration exitTimeout;
    private final AtomicBoolean closed = new AtomicBoolean();

    private GatunServer(ServerOptions options, Backends backends, ModelRepository repository) {
        metadata = options.metadata();
        buffers = options.buffers();
        regions = options.regions();
        strictReadiness = options.strictReadiness();
        exitTimeout = options.exitTimeout();
        this.backends = backends;
        this.repository = repository;
    }

    /**
     * Loads the models and answers when each is ready or has, in {@link #index}, a reason why not.
     *
     * @throws GatunException when a model repository cannot be read; nothing is left open then
     */
    public static GatunServer open(ServerOptions options) {
        List<Backend> engines = new ArrayList<>();
        ServiceLoader.load(Backend.class).forEach(engines::add);
        engines.addAll(options.backends());
        Backends backends = new Backends(engines, options.backendOptions());
        ModelRepository repository = ModelRepository.of(
                options.repositories(), backends, options.buffers(), options.autoComplete(), options.queueLimit());
        try {
            if (options.modelNames().isPresent()) {
                repository.load(options.modelNames().get(), options.loadThreads());
            } else {
                repository.loadAll(options.loadThreads());
            }
        } catch (RuntimeException | Error e) {
            backends.close();
            throw e;
        }
        return new GatunServer(options, backends, repository);
    }

    @Override
    public ServerMetadata metadata() {
        return metadata;
    }

    @Override
    public boolean live() {
        return true;
    }

    @Override
    public boolean ready() {
        return !closed.get() && (!strictReadiness || repository.ready());
    }

    @Override
    public ModelVersion model(String name, String version) {
        return repository.model(name, version);
    }

    @Override
    public List<ModelStatus> index() {
        return repository.index();
    }

    @Override
    public List<ModelStatistics> statistics() {
        return repository.statistics();
    }

    @Override
    public List<EngineStatistics> engines() {
        return backends.statistics();
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        try (request) {
            return model(request).infer(request);
        }
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        try (request) {
            model(request).infer(request, receiver);
        }
    }

    private static ServedModel model(InferenceRequest request) {
        if (request.model() instanceof ServedModel model) {
            return model;
        }
        throw new GatunException(
                ErrorCode.INTERNAL, "model '" + request.model().name() + "' was not found by this server");
    }

    @Override
    public RegionRegistry regions() {
        return regions;
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
        if (repository.close(exitTimeout)) {
            backends.close();
        } else {
            LOG.warn(
                    "Engines were still running after {} s and are left to the end of the process",
                    exitTimeout.toSeconds());
        }
    }
}
