// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.bindings.LibraryCache;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Models that are fetched before they are served.
 *
 * @param repositories where they are, one folder per model
 * @param cache the folder that keeps what was fetched
 * @param cacheByteSize the most bytes that it keeps
 * @param timeout for connections and responses, and in which some of a file has to come
 * @param connections how many files are fetched at a time
 */
public record StoreSettings(
        List<RepositoryLocation> repositories, Path cache, long cacheByteSize, Duration timeout, int connections) {
    /** No repositories, and a cache of 64 GiB beside the user's other caches. */
    public static final StoreSettings STANDARD = new StoreSettings(
            List.of(), LibraryCache.ofUser().folder().resolve("stores"), 64L << 30, Duration.ofSeconds(30), 8);

    /** Keeps a copy of the list. */
    public StoreSettings {
        repositories = List.copyOf(repositories);
    }
}
