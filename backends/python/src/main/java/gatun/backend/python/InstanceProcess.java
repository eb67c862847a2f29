// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ModelMetrics;
import gatun.workers.RestartPolicy;
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

/**
 * The process of an instance, and the next one when it has ended. Safe for any thread; it is started again without
 * waiting for a request.
 */
final class InstanceProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceProcess.class);

    private final String name;
    private final ModelMetrics.Metric deaths;
    private final Function<Consumer<String>, PythonWorker> starter;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by lock.
    private final RestartPolicy policy = new RestartPolicy();
    private @Nullable PythonWorker present;
    private boolean starting;
    private boolean closed;
    private String lastEnd = "";

    private InstanceProcess(String name, ModelMetrics.Metric deaths, Function<Consumer<String>, PythonWorker> starter) {
        this.name = name;
        this.deaths = deaths;
        this.starter = starter;
    }

    /**
     * Starts the first process.
     *
     * @param deaths counts those that end by themselves; owned by this
     * @param starter starts a process; what it is given is told how the process ends
     * @throws GatunException when it does not start
     */
    static InstanceProcess start(
            String name, ModelMetrics.Metric deaths, Function<Consumer<String>, PythonWorker> starter) {
        InstanceProcess process = new InstanceProcess(name, deaths, starter);
        try {
            process.started(starter.apply(process::ended));
            return process;
        } catch (RuntimeException e) {
            deaths.close();
            throw e;
        }
    }

    /**
     * The process, which runs; waits while one is being started.
     *
     * @throws GatunException UNAVAILABLE when it is not to be started yet
     */
    PythonWorker worker() {
        lock.lock();
        try {
            while (true) {
                if (closed) {
                    throw new GatunException(ErrorCode.UNAVAILABLE, "model instance '" + name + "' is closed");
                }
                PythonWorker running = present;
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

    /** Why requests fail at the moment; empty while the process runs, or has ended too seldom to matter. */
    Optional<String> failure() {
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

    private void ended(String how) {
        long delay;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            present = null;
            lastEnd = how;
            policy.died(System.nanoTime());
            delay = policy.delayNanos(System.nanoTime());
            starting = delay <= 0;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        deaths.increment(1);
        LOG.error("The process of model instance '{}' {}", name, how);
        Thread.ofVirtual().name("restart-" + name).start(() -> restart(Duration.ofNanos(Math.max(0, delay))));
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
        try {
            started(starter.apply(this::ended));
            LOG.info("The process of model instance '{}' runs again", name);
        } catch (RuntimeException e) {
            // The end of a process that did not get to serve is told to its starter, and nobody else.
            ended("could not be started: " + e.getMessage());
        }
    }

    private void started(PythonWorker worker) {
        boolean unwanted;
        lock.lock();
        try {
            unwanted = closed;
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

    @Override
    public void close() {
        PythonWorker last;
        lock.lock();
        try {
            closed = true;
            last = present;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (last != null) {
            last.close();
        }
        deaths.close();
    }
}
