// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.archive.ArchiveSource;
import gatun.stores.azure.AzureProtocol;
import gatun.stores.cache.StoreCache;
import gatun.stores.client.CloudCredentials;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.google.GoogleProtocol;
import gatun.stores.location.ArchiveLocation;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.s3.S3Protocol;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Opens mirrors of any kind of location.
 *
 * @param cache keeps the files; owned by the caller
 * @param fetching how they are fetched
 * @param modelNames tells names of folders that may be models' from those that are never
 */
public record Mirrors(StoreCache cache, Fetching fetching, Predicate<String> modelNames) {
    /**
     * A mirror without any model yet; the caller owns it.
     *
     * @throws IOException when credentials cannot be read, or the cache not be written
     */
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
}
