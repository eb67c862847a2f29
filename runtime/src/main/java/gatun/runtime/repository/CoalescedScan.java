// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.repository.RepositoryScan.Finding;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Reads repositories for all who ask, once at a time: callers during a reading share the next one. Thread-safe. */
final class CoalescedScan {
    private final Supplier<SortedMap<ModelIdentifier, Finding>> directories;

    private final ReentrantLock lock = new ReentrantLock();
    /** The reading that has begun last. Guarded by the lock. */
    private CompletableFuture<SortedMap<ModelIdentifier, Finding>> current =
            CompletableFuture.completedFuture(new TreeMap<>());
    /** The reading that has not begun; empty when nobody waits for one. Guarded by the lock. */
    private Optional<CompletableFuture<SortedMap<ModelIdentifier, Finding>>> next = Optional.empty();

    /** Reads by {@code directories}. */
    CoalescedScan(Supplier<SortedMap<ModelIdentifier, Finding>> directories) {
        this.directories = directories;
    }

    /** The result of a reading that begins now or later, in a map of the caller's own. Throws as the reading does. */
    SortedMap<ModelIdentifier, Finding> read() {
        CompletableFuture<SortedMap<ModelIdentifier, Finding>> before;
        CompletableFuture<SortedMap<ModelIdentifier, Finding>> own;
        boolean reader;
        lock.lock();
        try {
            before = current;
            reader = next.isEmpty();
            own = next.orElseGet(CompletableFuture::new);
            next = Optional.of(own);
        } finally {
            lock.unlock();
        }
        if (reader) {
            before.handle((found, failure) -> found).join();
            begin(own);
        }
        try {
            return new TreeMap<>(own.join());
        } catch (CompletionException e) {
            if (e.getCause() instanceof GatunException failure) {
                throw failure;
            }
            throw e;
        }
    }

    private void begin(CompletableFuture<SortedMap<ModelIdentifier, Finding>> reading) {
        lock.lock();
        try {
            current = reading;
            next = Optional.empty();
        } finally {
            lock.unlock();
        }
        try {
            reading.complete(directories.get());
        } catch (Throwable t) {
            reading.completeExceptionally(t);
        }
    }
}
