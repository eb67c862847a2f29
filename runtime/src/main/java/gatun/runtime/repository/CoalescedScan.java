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

/**
 * Reads the directories of the repositories for all who ask. Those who ask while they are read share the next reading,
 * which begins after all of them have asked: clients, however many there are, have the disks read no more than once at
 * a time. Safe for any thread.
 */
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

    /**
     * What a reading finds that begins now or later. The map is the caller's own.
     *
     * @throws GatunException as the reading does
     */
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
