// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.runtime.cache.CachedModel;
import gatun.runtime.cache.ResponseCache;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.metrics.MetricRegistry;
import gatun.runtime.repository.Backends;
import gatun.runtime.repository.ChangeListeners;
import gatun.runtime.repository.ModelRepository;
import gatun.runtime.repository.TemporaryFolder;
import gatun.spi.discovery.InstalledBackends;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** What a server is assembled from, before any model is loaded. */
record ServerParts(
        Backends backends,
        ModelRepository repository,
        Optional<ResponseCache> cache,
        ChangeListeners listeners,
        MetricRegistry metrics) {
    /** @throws GatunException when a setting of an engine is wrong */
    static ServerParts open(ServerOptions options) {
        MetricRegistry metrics = new MetricRegistry();
        TemporaryFolder files = new TemporaryFolder();
        BackendCalls calls = new BackendCalls(metrics, files);
        Backends backends = new Backends(
                options.installed.orElseGet(() -> InstalledBackends.find(Optional.empty())),
                options.backends,
                options.backendOptions,
                calls,
                options.isolation);
        Optional<ResponseCache> cache = options.openCache();
        ChangeListeners listeners = new ChangeListeners();
        ModelRepository repository = new ModelRepository(
                options.models,
                options.locations(),
                options.loadResources(cached(cache, options.buffers)),
                backends,
                listeners,
                files);
        options.repositoryRefresh.ifPresent(repository::refreshBy);
        calls.connect(repository);
        options.stopping.accept(repository::endLoads);
        return new ServerParts(backends, repository, cache, listeners, metrics);
    }

    private static UnaryOperator<ServedModel> cached(Optional<ResponseCache> cache, BufferPool buffers) {
        return model ->
                cache.map(present -> CachedModel.of(model, present, buffers)).orElse(model);
    }
}
