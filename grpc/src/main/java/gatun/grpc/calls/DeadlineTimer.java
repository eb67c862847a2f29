// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.memory.threads.FailureLog;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one thread that looks after the deadlines of a listener's calls and connections. Safe for any thread. */
public final class DeadlineTimer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeadlineTimer.class);

    private final ScheduledThreadPoolExecutor executor;

    public DeadlineTimer() {
        executor = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("grpc-deadlines").daemon(true).factory());
        // Nearly all deadlines are never reached: cancelled tasks are dropped at once.
        executor.setRemoveOnCancelPolicy(true);
    }

    /** The executor on which io.grpc's contexts schedule their deadlines. */
    ScheduledExecutorService executor() {
        return executor;
    }

    /** Runs a short task that does not wait, after a time; at once when the timer is closed already. */
    public void runAfter(Duration delay, Runnable task) {
        try {
            Future<?> scheduled = executor.schedule(() -> run(task), delay.toMillis(), TimeUnit.MILLISECONDS);
            assert !scheduled.isCancelled() : "nobody but us knows the task";
        } catch (RejectedExecutionException e) {
            LOG.trace("the timer is closed", e);
            task.run();
        }
    }

    /** The same for a task that may be called off: by the returned handle. Never runs it when the timer is closed. */
    public Runnable runUnlessCalledOff(Duration delay, Runnable task) {
        try {
            Future<?> scheduled = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            LOG.trace("the timer is closed", e);
            return () -> {};
        }
    }

    /** The executor keeps failures to itself, and its thread. */
    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            FailureLog.write(e, failure -> LOG.error("What a deadline began has failed", failure));
        }
    }

    /** Runs a short task that does not wait, again and again until the timer is closed. */
    public void repeat(Duration period, Runnable task) {
        Future<?> scheduled = executor.scheduleWithFixedDelay(
                () -> run(task), period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
        assert !scheduled.isCancelled() : "nobody but us knows the task";
    }

    /** Whether nothing is run any more. */
    boolean isClosed() {
        return executor.isShutdown();
    }

    /** Forgets all deadlines. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
