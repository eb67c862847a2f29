// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ServerExit;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that load models: several at a time, but the changes of one model one after another, as submitted. Platform
 * threads, since engines compute on them; they end when nothing is loaded. Thread-safe.
 */
final class LoadThreads {
    private static final Logger LOG = LoggerFactory.getLogger(LoadThreads.class);
    private static final long IDLE_SECONDS = 5;

    private final ThreadPoolExecutor threads;
    private final ReentrantLock lock = new ReentrantLock();

    /** The latest change of each model that has not ended; guarded by {@link #lock}. */
    private final Map<ModelIdentifier, Change> latest = new HashMap<>();

    private long changeCount; // guarded by lock

    private volatile boolean closed; // written under lock

    /** A change that was submitted, and its number among all. */
    private record Change(long number, CompletableFuture<?> result) {}

    LoadThreads(int count) {
        threads = new ThreadPoolExecutor(
                count,
                count,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().name("model-load-", 0).daemon(true).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /** Runs {@code change} after the model's earlier ones and {@code after}, failed or not. Throws when stopping. */
    <T> CompletableFuture<T> submit(ModelIdentifier model, Collection<CompletableFuture<?>> after, Supplier<T> change) {
        lock.lock();
        try {
            requireOpen();
            Stream<CompletableFuture<?>> earlier =
                    Stream.ofNullable(latest.get(model)).map(Change::result);
            CompletableFuture<?>[] before =
                    Stream.concat(after.stream(), earlier).toArray(CompletableFuture<?>[]::new);
            long number = changeCount++;
            CompletableFuture<T> result = CompletableFuture.allOf(before)
                    .handleAsync((nothing, failure) -> make(model, number, change), threads);
            latest.put(model, new Change(number, result));
            return result;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #submit} for a change that nobody waits for; does nothing when the server stops. */
    void start(ModelIdentifier model, Runnable change) {
        if (closed) {
            return;
        }
        CompletableFuture<Void> started = submit(model, List.of(), () -> {
            change.run();
            return null;
        });
        assert !started.isCancelled() : "nobody has it to cancel it";
    }

    boolean closed() {
        return closed;
    }

    private <T> T make(ModelIdentifier model, long number, Supplier<T> change) {
        try {
            requireOpen();
            return change.get();
        } catch (GatunException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            LOG.error("A change of a model failed unexpectedly", e);
            throw e;
        } finally {
            ended(model, number);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw ServerExit.refusal();
        }
    }

    private void ended(ModelIdentifier model, long number) {
        lock.lock();
        try {
            Change change = latest.get(model);
            if (change != null && change.number() == number) {
                latest.remove(model);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The latest change of a model, if it has not ended. */
    Optional<CompletableFuture<?>> pending(ModelIdentifier model) {
        lock.lock();
        try {
            return Optional.ofNullable(latest.get(model)).map(Change::result);
        } finally {
            lock.unlock();
        }
    }

    /** Begins no more changes, and waits for those under way; false when they take longer than {@code grace}. */
    boolean close(Duration grace) {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        threads.shutdown();
        try {
            return threads.awaitTermination(grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return threads.isTerminated();
        }
    }
}
