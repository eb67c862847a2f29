// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ModelIdentifier;
import gatun.runtime.ServerExit;
import gatun.spi.Setting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loads under way, each on its own thread, ended by the time limit, an unload of the model, or the server's stop.
 * Its thread is interrupted, at which a load in another process kills that. A load in an engine that does not return is
 * abandoned: nobody waits for it, and what it has loaded is closed when it returns. Thread-safe.
 */
final class LoadAttempts {
    private static final Logger LOG = LoggerFactory.getLogger(LoadAttempts.class);

    /** How long a load that is told to end may take for it before it is abandoned. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    private static final String UNLOADED = "the model was unloaded meanwhile";

    private final Duration limit;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final List<Attempt<?>> running = new ArrayList<>();
    private final List<Attempt<?>> abandoned = new ArrayList<>();

    /** How many unloads of a model wait for their turn; no load of it begins meanwhile. */
    private final Map<ModelIdentifier, Integer> unloads = new HashMap<>();

    private boolean closed;

    /** @param limit how long a load may take; zero for as long as it likes */
    LoadAttempts(Duration limit) {
        this.limit = limit;
    }

    /**
     * Runs a load and returns when it is over. {@code load}, on a thread of its own, is told whether it is still
     * wanted; {@code discard} gives up there what a load has made that was ended before. {@code startedNanos} is when
     * the version's load began. Throws {@link LoadEndedException} when ended, or an abandoned one of the model goes on.
     */
    <T> T run(
            ModelIdentifier model,
            long version,
            long startedNanos,
            Function<BooleanSupplier, T> load,
            Consumer<T> discard) {
        Attempt<T> attempt = new Attempt<>(model, version, startedNanos, load, discard);
        begin(attempt);
        return attempt.await();
    }

    private void begin(Attempt<?> attempt) {
        lock.lock();
        try {
            if (closed) {
                throw ServerExit.refusal();
            }
            if (unloads.containsKey(attempt.model)) {
                throw attempt.ended(UNLOADED);
            }
            for (Attempt<?> earlier : abandoned) {
                if (earlier.model.equals(attempt.model)) {
                    throw new LoadEndedException("an earlier load of version " + earlier.version
                            + ", which was abandoned "
                            + earlier.elapsedSeconds() + " s after it began, still runs inside the server; load the"
                            + " model again when the log tells that it has returned, or restart the server");
                }
            }
            running.add(attempt);
            attempt.start();
        } finally {
            lock.unlock();
        }
    }

    /** The loads of a model that were submitted before an unload end until this is closed, by the unload itself. */
    final class Ending implements AutoCloseable {
        private final ModelIdentifier model;
        private boolean over; // guarded by lock

        private Ending(ModelIdentifier model) {
            this.model = model;
        }

        @Override
        public void close() {
            lock.lock();
            try {
                if (!over) {
                    over = true;
                    unloads.computeIfPresent(model, (key, count) -> count == 1 ? null : count - 1);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Ends the loads of a model, and refuses others until the result is closed. */
    Ending end(ModelIdentifier model) {
        lock.lock();
        try {
            unloads.merge(model, 1, Integer::sum);
            running.stream().filter(attempt -> attempt.model.equals(model)).forEach(attempt -> attempt.end(UNLOADED));
            return new Ending(model);
        } finally {
            lock.unlock();
        }
    }

    /** Ends all loads and refuses others: the server stops. */
    void close() {
        lock.lock();
        try {
            closed = true;
            running.forEach(attempt -> attempt.end("the server stops"));
        } finally {
            lock.unlock();
        }
    }

    /** Whether an abandoned load has not returned. */
    boolean anyAbandoned() {
        lock.lock();
        try {
            return !abandoned.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** What the index says of a version whose load was abandoned and has not returned; empty for any other. */
    Optional<String> abandonment(ModelIdentifier model, String version) {
        lock.lock();
        try {
            return abandoned.stream()
                    .filter(attempt -> attempt.model.equals(model)
                            && Long.toString(attempt.version).equals(version))
                    .findFirst()
                    .map(attempt -> attempt.why() + Attempt.ABANDONED);
        } finally {
            lock.unlock();
        }
    }

    /** One load. Its fields that change are guarded by the lock. */
    private final class Attempt<T> {
        private static final String ABANDONED =
                "; the engine does not return, so that the load is abandoned and goes on"
                        + " inside the server: the log tells when it has returned";

        private final ModelIdentifier model;
        private final long version;
        private final long startedNanos;
        private final Consumer<T> discard;
        private final Thread thread;
        private final Condition changed = lock.newCondition();

        /** The reason to end; empty as long as the load is wanted. */
        private String reason = "";

        private boolean over;
        private boolean leftBehind;
        private @Nullable T value;
        private @Nullable Throwable failure;

        Attempt(
                ModelIdentifier model,
                long version,
                long startedNanos,
                Function<BooleanSupplier, T> load,
                Consumer<T> discard) {
            this.model = model;
            this.version = version;
            this.startedNanos = startedNanos;
            this.discard = discard;
            // A platform thread, since engines compute on it; a daemon, since it may never end.
            thread = Thread.ofPlatform().daemon().name("load-" + model.name()).unstarted(() -> make(load));
        }

        void start() {
            thread.start();
        }

        /** Tells the load to end; the first reason counts. Under the lock. */
        void end(String why) {
            if (reason.isEmpty() && !over) {
                reason = why;
                changed.signalAll();
                thread.interrupt();
            }
        }

        private boolean isWanted() {
            lock.lock();
            try {
                return reason.isEmpty();
            } finally {
                lock.unlock();
            }
        }

        private void make(Function<BooleanSupplier, T> load) {
            @Nullable T made = null;
            @Nullable Throwable thrown = null;
            try {
                made = load.apply(this::isWanted);
            } catch (Throwable t) {
                thrown = t;
            }
            boolean returnsLate;
            lock.lock();
            try {
                over = true;
                value = made;
                failure = thrown;
                running.remove(this);
                returnsLate = leftBehind;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
            if (returnsLate) {
                finishLate(made);
            }
        }

        private void finishLate(@Nullable T made) {
            giveUp(made);
            lock.lock();
            try {
                abandoned.remove(this);
            } finally {
                lock.unlock();
            }
            LOG.warn(
                    "The abandoned load of model '{}' version {} has returned after {} s; the model can be loaded again",
                    model,
                    version,
                    elapsedSeconds());
        }

        private void giveUp(@Nullable T made) {
            if (made == null) {
                return;
            }
            Thread.interrupted(); // which has told the load to end, and is not to disturb this
            try {
                discard.accept(made);
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "What an ended load of model '{}' version {} has made could not be closed", model, version, e);
            }
        }

        /** Waits for the end of the load, however that comes. */
        T await() {
            lock.lock();
            try {
                if (!awaitWhileWanted()) {
                    end("it took longer than " + Setting.MODEL_LOAD_TIMEOUT_SECS.with(limit.toSeconds()) + " allows");
                }
                if (!over && !awaitOver(GRACE)) {
                    leftBehind = true;
                    running.remove(this);
                    abandoned.add(this);
                }
            } finally {
                lock.unlock();
            }
            // What follows was written before over, or is not looked at.
            if (leftBehind) {
                LOG.warn(
                        "The load of model '{}' version {} is abandoned after {} s, because {}: the engine does not return",
                        model,
                        version,
                        elapsedSeconds(),
                        reason);
                throw ended(reason + ABANDONED);
            }
            if (!reason.isEmpty()) {
                giveUp(value);
                throw ended(reason);
            }
            return result();
        }

        private T result() {
            switch (failure) {
                case null -> {}
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case Throwable t -> throw new IllegalStateException(t);
            }
            T made = value;
            if (made == null) {
                throw new AssertionError("a load that did not fail has made something");
            }
            return made;
        }

        /** False when the limit is over before the load is, and before it is told to end. */
        private boolean awaitWhileWanted() {
            boolean interrupted = false;
            long left = limit.toNanos() - (System.nanoTime() - startedNanos);
            while (!over && reason.isEmpty() && (limit.isZero() || left > 0)) {
                try {
                    if (limit.isZero()) {
                        changed.await();
                    } else {
                        left = changed.awaitNanos(left);
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return over || !reason.isEmpty();
        }

        private boolean awaitOver(Duration grace) {
            boolean interrupted = Thread.interrupted();
            long left = grace.toNanos();
            while (!over && left > 0) {
                try {
                    left = changed.awaitNanos(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return over;
        }

        private String why() {
            return "the load was ended after " + elapsedSeconds() + " s, because " + reason;
        }

        private LoadEndedException ended(String why) {
            return new LoadEndedException("the load was ended after " + elapsedSeconds() + " s, because " + why);
        }

        private long elapsedSeconds() {
            return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedNanos);
        }
    }
}
