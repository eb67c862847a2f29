// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.residency;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.execution.LoadedModel;
import gatun.spi.Setting;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that a server's models may take, counted by the sizes of their files. A load without room waits until
 * enough unused models are closed, the least recently used first. Thread-safe.
 */
public final class ModelMemory {
    private static final Logger LOG = LoggerFactory.getLogger(ModelMemory.class);

    /** How long a model waits for others that are all in use, before those who ask for it are refused. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** How long a model that nobody uses may take to close. */
    private static final Duration CLOSING = Duration.ofMinutes(1);

    private static final long IDLE_SECONDS = 5;

    private final long byteSize;
    private final Runnable onFailure;
    private final ThreadPoolExecutor threads;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();

    // Guarded by the lock.
    private final Set<OnDemandModelState> models = new HashSet<>();
    private long used;
    private long loads;
    private long evictions;

    /** How many loads look for room. */
    private final AtomicInteger waiting = new AtomicInteger();

    /** No model; {@code threadCount} load at a time. {@code onFailure} is called after a needed load failed. */
    public ModelMemory(long byteSize, int threadCount, Runnable onFailure) {
        this.byteSize = byteSize;
        this.onFailure = onFailure;
        threads = new ThreadPoolExecutor(
                threadCount,
                threadCount,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().name("on-demand-load-", 0).daemon(true).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /** Throws RESOURCE_EXHAUSTED for a model that would not fit if it were alone. */
    public void requireFit(long modelByteSize) {
        if (modelByteSize > byteSize) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "its files have " + modelByteSize + " bytes, and all models together may take " + byteSize
                            + "; raise " + Setting.MODEL_MEMORY_LIMIT);
        }
    }

    /** What is taken now. */
    public ModelMemoryUse use() {
        lock.lock();
        try {
            return new ModelMemoryUse(byteSize, used, models.size(), loads, evictions);
        } finally {
            lock.unlock();
        }
    }

    /** Has a platform thread load a model. */
    CompletableFuture<Void> start(Runnable loading) {
        return CompletableFuture.runAsync(loading, threads);
    }

    /** Takes memory for a model to load, closing others if need be. Throws UNAVAILABLE when those stay in use. */
    void take(OnDemandModelState model) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            Optional<Departure> departure = takeOrChoose(model, deadline);
            if (departure.isEmpty()) {
                return;
            }
            // Without the lock, since it may take long; its memory counts until it is over.
            try {
                departure.get().complete();
            } finally {
                free(departure.get().model().byteSize());
            }
        }
    }

    /** A model that is not in memory any more once what was loaded is closed. */
    private record Departure(OnDemandModelState model, LoadedModel loaded) {
        static Optional<Departure> of(OnDemandModelState model) {
            return model.retire().map(loaded -> new Departure(model, loaded));
        }

        void complete() {
            // Nobody is with it, so that there is nothing to wait for.
            if (!loaded.close(CLOSING)) {
                LOG.warn("{} could not be closed in time", model.title());
            }
        }
    }

    /** Takes the memory, or else chooses a model that is to be closed, which answers nobody any more. */
    private Optional<Departure> takeOrChoose(OnDemandModelState model, long deadline) {
        lock.lock();
        waiting.incrementAndGet();
        try {
            while (byteSize - used < model.byteSize()) {
                Optional<Departure> departure = leastRecentlyUsed();
                if (departure.isPresent()) {
                    models.remove(departure.get().model());
                    evictions++;
                    return departure;
                }
                if (room.awaitNanos(deadline - System.nanoTime()) <= 0) {
                    throw full(model);
                }
            }
            used += model.byteSize();
            models.add(model);
            loads++;
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw full(model);
        } finally {
            waiting.decrementAndGet();
            lock.unlock();
        }
    }

    private Optional<Departure> leastRecentlyUsed() {
        return models.stream()
                .sorted(Comparator.comparingLong(OnDemandModelState::lastUsedNanos))
                .flatMap(idle -> Departure.of(idle).stream())
                .findFirst();
    }

    private GatunException full(OnDemandModelState model) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "there is no memory for " + model.title() + " of " + model.byteSize()
                        + " bytes: other models are in use, which have " + used + " of the " + byteSize
                        + " bytes that all may take; ask again later, or raise " + Setting.MODEL_MEMORY_LIMIT);
    }

    /** Gives back the memory of a model that is in memory no more, or could not be loaded. */
    void giveBack(OnDemandModelState model) {
        lock.lock();
        try {
            models.remove(model);
            free(model.byteSize());
        } finally {
            lock.unlock();
        }
    }

    /** Gives back memory of a model that is no longer counted; it may have been loaded again meanwhile. */
    private void free(long modelByteSize) {
        lock.lock();
        try {
            used -= modelByteSize;
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a loaded model has no user any more. */
    void released() {
        if (waiting.get() == 0) {
            return;
        }
        lock.lock();
        try {
            room.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a model that a request needed could not be loaded. */
    void failed() {
        onFailure.run();
    }
}
