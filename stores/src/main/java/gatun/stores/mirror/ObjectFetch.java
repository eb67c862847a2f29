// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import gatun.stores.cache.StoreCache;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Brings objects into the cache, {@code threads} at a time. {@code identity} names the store in cache keys. */
record ObjectFetch(ObjectStore store, String identity, StoreCache cache, int threads, FetchProgress progress) {
    String key(StoredObject object) {
        return StoreCache.key(identity, object.name(), object.etag(), Long.toString(object.byteSize()));
    }

    boolean holds(StoredObject object) {
        return cache.holds(key(object), object.byteSize());
    }

    /** Fetches uncached objects by key, without removing {@code kept}. Throws LIMIT when they have no room. */
    Map<String, IOException> fetch(String what, Set<String> models, Map<String, StoredObject> objects, Set<String> kept)
            throws IOException {
        Map<String, IOException> failures = new HashMap<>();
        if (objects.isEmpty()) {
            return failures;
        }
        long byteSize = 0;
        for (StoredObject object : objects.values()) {
            byteSize = Math.addExact(byteSize, Math.min(object.byteSize(), Long.MAX_VALUE >> 20));
        }
        cache.makeRoom(byteSize, kept);
        try (FetchProgress.Fetch fetch = progress.begin(what, models, objects.size(), byteSize);
                ExecutorService pool = Executors.newFixedThreadPool(
                        threads, Thread.ofVirtual().name("store-fetch-", 0).factory())) {
            Map<String, Future<?>> running = new HashMap<>();
            objects.forEach((key, object) -> running.put(key, pool.submit(() -> {
                fetch(key, object, fetch);
                return true;
            })));
            for (Map.Entry<String, Future<?>> one : running.entrySet()) {
                try {
                    one.getValue().get();
                } catch (ExecutionException e) {
                    failures.put(
                            one.getKey(),
                            e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause()));
                } catch (InterruptedException e) {
                    pool.shutdownNow();
                    Thread.currentThread().interrupt();
                    throw new StoreException(StoreException.Kind.UNAVAILABLE, "interrupted while files came", e);
                }
            }
        }
        return failures;
    }

    private void fetch(String key, StoredObject object, FetchProgress.Fetch fetch) throws IOException {
        Path staged = cache.staging();
        try {
            store.fetch(object, staged, fetch::add);
            cache.admit(staged, key);
        } finally {
            Files.deleteIfExists(staged);
        }
    }
}
