// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker and its successors, started as {@link RestartPolicy} says without waiting for requests. Thread-safe. */
public final class RestartingWorker<W extends RestartingWorker.Worker> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RestartingWorker.class);

    private final String name;
    private final Consumer<WorkerEnd.Reason> died;
    private final Function<Consumer<WorkerEnd>, W> starter;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by lock.
    private final RestartPolicy policy = new RestartPolicy();
    private @Nullable W present;
    private boolean starting;

    /** The thread that starts the next worker; null when there is none. */
    private @Nullable Thread starterThread;

    private boolean closed;
    private String lastEnd = "";

    /** A process that works for the server. */
    public interface Worker extends AutoCloseable {
        /** Whether it has not ended. */
        boolean isRunning();

        /** Ends it at once. */
        void kill(String reason);

        /** Ends it in order; returns when it has ended. */
        @Override
        void close();
    }

    private RestartingWorker(String name, Consumer<WorkerEnd.Reason> died, Function<Consumer<WorkerEnd>, W> starter) {
        this.name = name;
        this.died = died;
        this.starter = starter;
    }

    /**
     * Starts the first one. What {@code starter} gets is told how the worker ends; {@code died} is told of each that
     * has ended by itself. Throws when it does not start.
     */
    public static <W extends Worker> RestartingWorker<W> start(
            String name, Consumer<WorkerEnd.Reason> died, Function<Consumer<WorkerEnd>, W> starter) {
        RestartingWorker<W> worker = new RestartingWorker<>(name, died, starter);
        worker.started(starter.apply(worker::ended));
        return worker;
    }

    /** The worker, which runs; waits while one starts. Throws UNAVAILABLE when it is not to be started yet. */
    public W worker() {
        lock.lock();
        try {
            while (true) {
                if (closed) {
                    throw new GatunException(ErrorCode.UNAVAILABLE, "model instance '" + name + "' is closed");
                }
                W running = present;
                if (running != null && running.isRunning()) {
                    return running;
                }
                // One that has ended is about to be noted as such, which decides whether the next is started at once.
                if (running == null && !starting) {
                    throw new GatunException(ErrorCode.UNAVAILABLE, reason());
                }
                changed.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.CANCELLED, "the wait for the process of '" + name + "' was ended", e);
        } finally {
            lock.unlock();
        }
    }

    private String reason() {
        long now = System.nanoTime();
        long seconds = Math.max(0, TimeUnit.NANOSECONDS.toSeconds(policy.delayNanos(now) + 999_999_999L));
        return "the process of model instance '" + name + "' has ended " + policy.recentDeaths(now)
                + " times within a minute and is started again in " + seconds + " s; the last one " + lastEnd;
    }

    /** Why requests fail at the moment; empty while the worker runs, or has ended too seldom to matter. */
    public Optional<String> failure() {
        lock.lock();
        try {
            boolean runs = present != null && present.isRunning();
            return runs || closed || policy.recentDeaths(System.nanoTime()) < RestartPolicy.LIMIT
                    ? Optional.empty()
                    : Optional.of(reason());
        } finally {
            lock.unlock();
        }
    }

    private void ended(WorkerEnd how) {
        long delay;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            present = null;
            lastEnd = how.text();
            policy.died(System.nanoTime());
            delay = policy.delayNanos(System.nanoTime());
            starting = delay <= 0;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        died.accept(how.reason());
        LOG.error("The process of model instance '{}' {}", name, how.text());
        Thread next = Thread.ofVirtual()
                .name("restart-" + name)
                .unstarted(() -> restart(Duration.ofNanos(Math.max(0, delay))));
        lock.lock();
        try {
            if (closed) {
                return;
            }
            starterThread = next;
        } finally {
            lock.unlock();
        }
        next.start();
    }

    private void restart(Duration delay) {
        lock.lock();
        try {
            long left = delay.toNanos();
            while (left > 0 && !closed) {
                left = changed.awaitNanos(left);
            }
            if (closed) {
                return;
            }
            starting = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } finally {
            lock.unlock();
        }
        WorkerEvents.Restarted event = WorkerEvents.restarting(name);
        try {
            started(starter.apply(this::ended));
            event.end(true);
            LOG.info("The process of model instance '{}' runs again", name);
        } catch (RuntimeException e) {
            event.end(false);
            // The end of a process that did not get to serve is told to its starter, and nobody else.
            ended(new WorkerEnd(WorkerEnd.Reason.EXIT, "could not be started: " + e.getMessage()));
        }
    }

    private void started(W worker) {
        boolean unwanted;
        lock.lock();
        try {
            unwanted = closed;
            starterThread = null;
            if (worker.isRunning()) {
                present = worker;
                starting = false;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (unwanted) {
            worker.close();
        }
    }

    /** Ends the worker at once, also one that is being started, and starts no other. */
    public void abort() {
        W last = end();
        if (last != null) {
            last.kill("it is not wanted any more");
        }
    }

    @Override
    public void close() {
        W last = end();
        if (last != null) {
            last.close();
        }
    }

    /** Starts no worker from now on, and returns the present one, if any. */
    private @Nullable W end() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            if (starterThread != null) {
                starterThread.interrupt(); // The start of a worker may never end.
            }
            return present;
        } finally {
            lock.unlock();
        }
    }
}
