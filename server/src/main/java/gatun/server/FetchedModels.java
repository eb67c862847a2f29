// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelSettings;
import gatun.runtime.RepositoryRefresh;
import gatun.runtime.repository.RepositoryAdvice;
import gatun.server.settings.ModelListSettings;
import gatun.server.settings.ModelListSettings.Names;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServedModelSettings.StoreSettings;
import gatun.server.settings.StartException;
import gatun.stores.cache.StoreCache;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.mirror.FetchWatch;
import gatun.stores.mirror.Mirror;
import gatun.stores.mirror.Mirrors;
import gatun.stores.mirror.Mirrors.Fetching;
import gatun.stores.mirror.StoreMirror.Scope;
import gatun.stores.mirror.TerminalProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server's models, fetched from URLs into folders and refreshed before each look. Owns the mirrors. Thread-safe. */
final class FetchedModels implements RepositoryRefresh, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FetchedModels.class);

    private final ServedModelSettings models;
    private final List<Mirror> mirrors;
    private final Optional<StoreCache> cache;
    private final FetchWatch watch;
    private final MirrorPoll poll;

    private FetchedModels(
            ServedModelSettings models, List<Mirror> mirrors, Optional<StoreCache> cache, FetchWatch watch) {
        this.models = models;
        this.watch = watch;
        this.mirrors = mirrors;
        this.cache = cache;
        poll = new MirrorPoll(mirrors);
    }

    /** Fetches what URLs name; does nothing where none does. Throws {@link StartException} when that fails. */
    static FetchedModels open(ServedModelSettings given) {
        StoreSettings stores = given.stores();
        FetchWatch watch = new FetchWatch(TerminalProgress.ofTerminal());
        Optional<Names.Stored> base = given.sources()
                .list()
                .flatMap(list -> list.names() instanceof Names.Stored stored ? Optional.of(stored) : Optional.empty());
        if (stores.repositories().isEmpty() && base.isEmpty()) {
            return new FetchedModels(given, List.of(), Optional.empty(), watch);
        }
        List<Mirror> mirrors = new ArrayList<>();
        Optional<StoreCache> cache = Optional.empty();
        try {
            cache = Optional.of(StoreCache.open(stores.cache(), stores.cacheByteSize()));
            Mirrors opener = new Mirrors(
                    cache.get(),
                    new Fetching(stores.timeout(), stores.connections(), watch, System.getenv()),
                    ModelIdentifier::mayBeModel);
            List<Path> folders = new ArrayList<>(given.sources().repositories());
            for (RepositoryLocation location : stores.repositories()) {
                folders.add(open(opener, location, Scope.REPOSITORY, given.control(), mirrors));
            }
            Optional<ModelListSettings> list = given.sources().list();
            if (base.isPresent()) {
                Path folder = open(opener, base.get().location(), Scope.MODEL, given.control(), mirrors);
                list = list.map(stored -> new ModelListSettings(
                        new Names.One(base.get().name(), folder), Duration.ZERO, stored.reloadFolders()));
            }
            return new FetchedModels(given.withSources(folders, list), mirrors, cache, watch);
        } catch (IOException | RuntimeException e) {
            new FetchedModels(given, mirrors, cache, watch).close();
            throw e instanceof StartException known ? known : new StartException(IoFailure.describe(e), e);
        }
    }

    private static Path open(
            Mirrors opener,
            RepositoryLocation location,
            Scope scope,
            ModelSettings.Control control,
            List<Mirror> mirrors)
            throws IOException {
        Mirror mirror = opener.open(location, scope);
        mirrors.add(mirror);
        boolean onDemand = control.loadModels().isPresent();
        long begin = System.nanoTime();
        try {
            if (onDemand) {
                mirror.refreshNames();
            } else {
                mirror.start();
                if (control.exitOnError() && !mirror.failures().isEmpty()) {
                    throw new IOException(location.text() + ": "
                            + String.join("; ", mirror.failures().values()));
                }
            }
            remark(location, mirror).ifPresent(LOG::warn);
            LOG.info(
                    "{} is fetched, in {} ms",
                    location.text(),
                    Duration.ofNanos(System.nanoTime() - begin).toMillis());
        } catch (IOException e) {
            String reason = IoFailure.describe(e)
                    + remark(location, mirror).map(remark -> "; " + remark).orElse("");
            if (control.exitOnError()) {
                throw new IOException(reason + ". Start with --exit-on-error=false to have the server wait for it", e);
            }
            LOG.error("{} is not served: {}", location.text(), reason);
            if (onDemand) {
                // A folder that cannot be read would keep models of other repositories from being listed and loaded.
                Files.createDirectories(mirror.folder());
            }
        }
        return mirror.folder();
    }

    /** What to name instead of one model's folder; empty where the folder holds models. */
    private static Optional<String> remark(RepositoryLocation location, Mirror mirror) {
        return location instanceof StoreLocation store && mirror.holdsOneModel()
                ? Optional.of(RepositoryAdvice.ofOneModel(store.text(), store.above()))
                : Optional.empty();
    }

    /** The settings with folders instead of URLs. */
    ServedModelSettings models() {
        return models;
    }

    FetchWatch watch() {
        return watch;
    }

    @Override
    public void refresh() {
        poll.refresh();
    }

    @Override
    public void refresh(String model) {
        Map<Path, IOException> failed = new LinkedHashMap<>();
        for (Mirror mirror : mirrors) {
            try {
                mirror.refresh(model);
            } catch (IOException e) {
                failed.put(mirror.folder(), e);
            }
        }
        if (failed.isEmpty()) {
            return;
        }
        IOException first = failed.values().iterator().next();
        if (!liesOutside(failed.keySet(), model)) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE, "failed to load '" + model + "': " + first.getMessage(), first);
        }
        LOG.warn(
                "Model '{}' is loaded, though another repository could not be looked at: {}",
                model,
                first.getMessage());
    }

    private boolean liesOutside(Set<Path> folders, String model) {
        return models.sources().repositories().stream()
                .filter(folder -> !folders.contains(folder))
                .anyMatch(folder -> Files.isDirectory(folder.resolve(model)));
    }

    @Override
    public void close() {
        poll.close();
        mirrors.forEach(Mirror::close);
        cache.ifPresent(open -> {
            try {
                open.close();
            } catch (IOException e) {
                LOG.warn("The cache of stores is left with this server's links: {}", IoFailure.describe(e));
            }
        });
    }

    /** Refreshes borrowed mirrors side by side: a slow one does not hold up the others. Thread-safe. */
    static final class MirrorPoll implements AutoCloseable {
        /** The longest wait of a look at the folders; what takes longer is seen by the next look. */
        private static final Duration PATIENCE = Duration.ofSeconds(2);

        private final List<Polled> mirrors;
        private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("store-poll-", 0).factory());

        /** A mirror with its last refresh. Guarded by the poll, but for the refresh itself. */
        private static final class Polled {
            private final Mirror mirror;
            private Future<?> last = CompletableFuture.completedFuture(null);

            /** The reason of the last failure, so that each reason is logged once. */
            private String reason = "";

            Polled(Mirror mirror) {
                this.mirror = mirror;
            }

            void refresh() {
                try {
                    mirror.refresh();
                    reason = "";
                } catch (IOException e) {
                    String now = IoFailure.describe(e);
                    if (!now.equals(reason) && !Thread.currentThread().isInterrupted()) {
                        LOG.warn("Models are left as they are: {}", now);
                    }
                    reason = now;
                }
            }
        }

        MirrorPoll(List<Mirror> mirrors) {
            this.mirrors = mirrors.stream().map(Polled::new).toList();
        }

        /** Refreshes the mirrors that are not being refreshed; returns when that is done, or after a moment. */
        synchronized void refresh() {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            List<Future<?>> begun = new ArrayList<>();
            for (Polled polled : mirrors) {
                if (polled.last.isDone()) {
                    polled.last = threads.submit(polled::refresh);
                    begun.add(polled.last);
                }
            }
            for (Future<?> refresh : begun) {
                try {
                    refresh.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    return;
                } catch (ExecutionException e) {
                    throw new IllegalStateException("a repository could not be looked at", e.getCause());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }

        /** Ends what is under way, and waits for that. */
        @Override
        public void close() {
            threads.shutdownNow();
            threads.close();
        }
    }
}
