// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.archive.ArchiveSource;
import gatun.stores.archive.Unpacking;
import gatun.stores.azure.AzureProtocol;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.CloudCredentials;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.google.GoogleProtocol;
import gatun.stores.location.ArchiveLocation;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.s3.S3Protocol;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Opens mirrors. Borrows {@code cache}. {@code modelNames} accepts names of folders that may be models'. */
public record Mirrors(StoreCache cache, Fetching fetching, Predicate<String> modelNames) {
    /** A mirror without models yet; the caller owns it. Throws when credentials or the cache are unusable. */
    public Mirror open(RepositoryLocation location, StoreMirror.Scope scope) throws IOException {
        StoreLimits limits = StoreLimits.of(fetching.timeout());
        StoreHttp http = new StoreHttp(limits);
        return switch (location) {
            case StoreLocation store ->
                new StoreMirror(
                        store,
                        scope,
                        new ObjectStore(store.text(), protocol(store, fetching.environment()), http, limits),
                        cache,
                        fetching,
                        modelNames);
            case ArchiveLocation archive ->
                new ArchiveMirror(
                        archive,
                        scope,
                        new ArchiveSource(archive, http, limits),
                        cache,
                        fetching.progress(),
                        modelNames);
        };
    }

    /**
     * Fetches a location once.
     *
     * @param target the folder that gets it; it is not there, or empty
     * @param byteLimit the most bytes that an archive may unpack to
     * @throws IOException with the reason when that is not possible; the folder is as it was then
     */
    public static void pull(RepositoryLocation location, Path target, Fetching fetching, long byteLimit)
            throws IOException {
        StoreLimits limits = StoreLimits.of(fetching.timeout());
        StoreHttp http = new StoreHttp(limits);
        switch (location) {
            case StoreLocation store -> {
                StoreProtocol protocol = protocol(store, fetching.environment());
                try (ObjectStore objects = new ObjectStore(store.text(), protocol, http, limits)) {
                    Pull.store(store, objects, fetching.threads(), fetching.progress(), target);
                }
            }
            case ArchiveLocation archive -> {
                try (ArchiveSource source = new ArchiveSource(archive, http, limits)) {
                    Pull.archive(archive, source, byteLimit, fetching.progress(), target);
                }
            }
        }
    }

    private static StoreProtocol protocol(StoreLocation location, Map<String, String> environment) throws IOException {
        Map<String, String> given =
                CloudCredentials.of(environment).of(location).orElse(Map.of());
        return switch (location.kind()) {
            case S3 -> S3Protocol.of(location, given, environment);
            case GS -> GoogleProtocol.of(location, given, environment);
            case AS -> AzureProtocol.of(location, given, environment);
        };
    }

    /** Fetches a repository or a model into a folder, which is there with all files or not at all. */
    static final class Pull {
        private Pull() {}

        /** Writes the content of a folder. */
        private interface Filling {
            void into(Path folder) throws IOException;
        }

        static void store(StoreLocation location, ObjectStore store, int threads, FetchProgress progress, Path target)
                throws IOException {
            ModelTree tree = ModelTree.model(location.prefix(), store.list(location.prefix()));
            if (tree.files().isEmpty()) {
                throw new StoreException(Kind.ABSENT, location.text() + " holds no files: check the path");
            }
            long byteSize = tree.files().values().stream()
                    .mapToLong(StoredObject::byteSize)
                    .sum();
            fill(target, folder -> {
                try (FetchProgress.Fetch fetch = progress.begin(
                        location.text(), Set.of(location.name()), tree.files().size(), byteSize)) {
                    fetch(store, tree, threads, fetch, folder);
                }
            });
        }

        private static void fetch(
                ObjectStore store, ModelTree tree, int threads, FetchProgress.Fetch fetch, Path folder)
                throws IOException {
            try (ExecutorService pool =
                    Executors.newFixedThreadPool(threads, Thread.ofVirtual().factory())) {
                List<Future<?>> running = new ArrayList<>();
                for (Map.Entry<String, StoredObject> file : tree.files().entrySet()) {
                    Path place = folder.resolve(file.getKey());
                    Files.createDirectories(place.getParent());
                    running.add(pool.submit(() -> {
                        store.fetch(file.getValue(), place, fetch::add);
                        return true;
                    }));
                }
                try {
                    for (Future<?> one : running) {
                        one.get();
                    }
                } finally {
                    // All have come, or those that have not are of no use.
                    pool.shutdownNow();
                }
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(Kind.UNAVAILABLE, "interrupted while files came", e);
            }
        }

        static void archive(
                ArchiveLocation location, ArchiveSource source, long byteLimit, FetchProgress progress, Path target)
                throws IOException {
            StoredObject archive = source.look();
            fill(target, folder -> {
                Path file = Files.createTempFile(folder.getParent(), ".gatun-pull-", ".archive");
                Files.delete(file);
                try (FetchProgress.Fetch fetch = progress.begin(location.text(), Set.of(), 1, archive.byteSize())) {
                    source.fetch(archive, file, fetch::add);
                    Unpacking.unpack(file, location.format(), folder, byteLimit);
                } finally {
                    Files.deleteIfExists(file);
                }
            });
        }

        private static void fill(Path target, Filling filling) throws IOException {
            Path absolute = target.toAbsolutePath().normalize();
            if (Files.exists(absolute)) {
                try (Stream<Path> entries = Files.list(absolute)) {
                    if (entries.findAny().isPresent()) {
                        throw new IOException(target + " is there, and not empty; name another folder");
                    }
                }
            }
            Path parent = Files.createDirectories(absolute.getParent());
            Path partial = Files.createTempDirectory(parent, ".gatun-pull-");
            try {
                filling.into(partial);
                // A folder that is there and empty gives way.
                Files.setPosixFilePermissions(partial, PosixFilePermissions.fromString("rwxr-xr-x"));
                Files.move(partial, absolute, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException | RuntimeException e) {
                delete(partial);
                throw e;
            }
        }

        private static void delete(Path folder) throws IOException {
            try (Stream<Path> below = Files.walk(folder)) {
                for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        }
    }

    /**
     * How files are fetched.
     *
     * @param timeout for connections and responses, and in which some of a body has to come
     * @param threads how many at a time
     * @param progress is told how far they are
     * @param environment the process's variables, which hold credentials
     */
    public record Fetching(Duration timeout, int threads, FetchProgress progress, Map<String, String> environment) {
        /** Keeps a copy. */
        public Fetching {
            environment = Map.copyOf(environment);
        }

        /** Shows no credentials. */
        @Override
        public String toString() {
            return "Fetching[" + timeout + ", " + threads + "]";
        }
    }
}
