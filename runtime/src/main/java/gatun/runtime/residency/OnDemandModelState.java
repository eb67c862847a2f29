// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.residency;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.execution.LoadedModel;
import gatun.runtime.execution.VersionRetiredException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a model version is in memory, and how many requests use it. The first to find it absent loads it, others
 * wait; it becomes absent when {@link ModelMemory} needs room and no request uses it. Thread-safe.
 */
final class OnDemandModelState {
    private static final Logger LOG = LoggerFactory.getLogger(OnDemandModelState.class);

    /** {@link #users} of a model that is not in memory, or is being closed. */
    private static final long ABSENT = -1;

    private final ModelMemory memory;
    private final String title;
    private final long byteSize;
    private final Supplier<LoadedModel> opening;
    private final boolean staying;

    /** How many requests are with {@link #latest}, or {@link #ABSENT}. */
    private final AtomicLong users = new AtomicLong(ABSENT);

    private volatile long lastUsedNanos = System.nanoTime();

    /** As it was loaded last; closed, and good for its descriptions only, while it is absent. */
    private volatile @Nullable LoadedModel latest;

    private volatile Optional<String> failure = Optional.empty();

    private volatile boolean closing; // written under the lock

    /** Whether {@link #close} has given its memory back. */
    private final AtomicBoolean released = new AtomicBoolean();

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private @Nullable CompletableFuture<Void> loading;
    private long waiting;

    OnDemandModelState(
            ModelMemory memory, String title, long byteSize, Supplier<LoadedModel> opening, boolean staying) {
        this.memory = memory;
        this.title = title;
        this.byteSize = byteSize;
        this.opening = opening;
        this.staying = staying;
    }

    String title() {
        return title;
    }

    /** How much memory it takes when it is loaded, in bytes. */
    long byteSize() {
        return byteSize;
    }

    /** When its last user left; a reading of {@link System#nanoTime}. */
    long lastUsedNanos() {
        return lastUsedNanos;
    }

    /** As it was loaded last, perhaps closed since; null before the first load. */
    @Nullable
    LoadedModel latest() {
        return latest;
    }

    /** Why it cannot be loaded; empty where that is not known to fail. */
    Optional<String> failure() {
        return failure;
    }

    boolean isPresent() {
        return users.get() != ABSENT;
    }

    boolean isClosing() {
        return closing;
    }

    /** The model in memory, which stays there until the caller {@linkplain #leave leaves}. */
    LoadedModel enter() {
        long before = users.get();
        while (before != ABSENT) {
            if (users.compareAndSet(before, before + 1)) {
                return loaded();
            }
            before = users.get();
        }
        return awaitLoad();
    }

    void leave() {
        lastUsedNanos = System.nanoTime();
        if (users.decrementAndGet() == 0) {
            memory.released();
        }
    }

    private LoadedModel loaded() {
        LoadedModel model = latest;
        if (model == null) {
            throw new AssertionError("it has users, and was never loaded");
        }
        return model;
    }

    /** As {@link #enter}, of a model that was absent. */
    private LoadedModel awaitLoad() {
        CompletableFuture<Void> awaited;
        lock.lock();
        try {
            if (closing) {
                throw new VersionRetiredException();
            }
            failure.ifPresent(reason -> {
                throw unavailable(reason);
            });
            if (users.get() != ABSENT) {
                users.incrementAndGet(); // It was loaded meanwhile, and leaves under this lock only.
                return loaded();
            }
            waiting++;
            if (loading == null) {
                loading = memory.start(this::open);
            }
            awaited = loading;
        } finally {
            lock.unlock();
        }
        try {
            awaited.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof GatunException told ? told : e;
        }
        return loaded();
    }

    private GatunException unavailable(String reason) {
        return new GatunException(ErrorCode.UNAVAILABLE, title + " could not be loaded when it was asked: " + reason);
    }

    /** Loads it for those who wait, who have entered when this returns; otherwise none has. */
    private void open() {
        try {
            memory.take(this);
            LoadedModel opened = openInMemory();
            if (!admit(opened)) {
                opened.close(Duration.ZERO);
                memory.giveBack(this);
                throw new VersionRetiredException();
            }
            LOG.debug("{} was loaded, since it was asked", title);
        } catch (RuntimeException | Error e) {
            lock.lock();
            try {
                loading = null;
                waiting = 0;
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private LoadedModel openInMemory() {
        try {
            long startedNanos = System.nanoTime();
            LoadedModel opened = opening.get();
            opened.loadTime(Duration.ofNanos(System.nanoTime() - startedNanos));
            return opened;
        } catch (RuntimeException | Error e) {
            memory.giveBack(this);
            throw refuse(e);
        }
    }

    private boolean admit(LoadedModel opened) {
        lock.lock();
        try {
            if (closing) {
                return false;
            }
            latest = opened;
            users.set(waiting);
            waiting = 0;
            loading = null;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Notes why it cannot be loaded: nobody is to try that again before somebody has mended it and loads it anew. */
    private GatunException refuse(Throwable cause) {
        String reason = cause instanceof GatunException told
                ? String.valueOf(told.getMessage())
                : "loading failed unexpectedly: " + cause;
        failure = Optional.of(reason);
        LOG.warn("{} cannot be loaded: {}", title, reason);
        memory.failed();
        return unavailable(reason);
    }

    /** Makes it absent if nobody uses it. What was in memory is then to be closed, and its memory given back. */
    Optional<LoadedModel> retire() {
        if (staying || users.get() != 0) {
            return Optional.empty();
        }
        lock.lock();
        try {
            return !closing && users.compareAndSet(0, ABSENT) ? Optional.of(loaded()) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link OnDemandModel#drain}. */
    void drain() {
        lock.lock();
        try {
            closing = true;
        } finally {
            lock.unlock();
        }
        LoadedModel model = latest;
        if (model != null) {
            model.drain();
        }
    }

    /** As {@link OnDemandModel#close}. */
    boolean close(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        drain();
        CompletableFuture<Void> awaited;
        lock.lock();
        try {
            awaited = loading;
        } finally {
            lock.unlock();
        }
        if (awaited != null && !ends(awaited, grace)) {
            return false;
        }
        LoadedModel model = latest;
        if (model == null) {
            return true;
        }
        if (!model.close(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
            return false;
        }
        if (users.get() != ABSENT && released.compareAndSet(false, true)) {
            memory.giveBack(this);
        }
        return true;
    }

    private static boolean ends(CompletableFuture<Void> load, Duration grace) {
        try {
            load.get(grace.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
