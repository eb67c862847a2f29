// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.GatunException;
import gatun.runtime.execution.ModelInstances.InstanceResources;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.BackendInstance;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An instance's single runs: its thread's, and detached ones. {@link #run} is for the instance's thread. */
final class UnbatchedExecutor {
    /** How many runs of an instance may be detached at a time; further ones are done by the instance's thread. */
    static final int DETACHED_LIMIT = 64;

    private final String instanceName;
    private final InstanceResources resources;
    private final RunFailures failures;
    private final Semaphore detachable = new Semaphore(DETACHED_LIMIT);
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<SingleRun> idle = new ArrayDeque<>(); // guarded by lock
    private final AtomicBoolean counting = new AtomicBoolean(true);
    private SingleRun present;
    private boolean open;

    /** @param counters those of the instance's thread */
    UnbatchedExecutor(
            String instanceName, InstanceResources resources, RunFailures failures, InstanceCounters counters) {
        this.instanceName = instanceName;
        this.resources = resources;
        this.failures = failures;
        present = create(counters);
    }

    private SingleRun create(InstanceCounters counters) {
        RunStopper stopper = new RunStopper(instanceName, resources.signature().modelName());
        return new SingleRun(resources, stopper, failures, counters, this::detach);
    }

    /** From now on runs may be detached: the instance serves, and does not warm up any more. */
    void open() {
        open = true;
    }

    /** Tells the engine to stop the next run when nobody wants it. */
    RunStopper stopper() {
        return present.stopper();
    }

    /** Runs a request whose run the stopper has begun. Returns nanoseconds, 0 when it goes on beside the instance. */
    long run(BackendInstance backend, PendingInference pending) {
        long nanos = present.run(backend, pending);
        if (nanos == SingleRun.DETACHED) {
            present = next();
            return 0;
        }
        return nanos;
    }

    /** Runs requests of a decoupled model in one timed {@code call}; each ends by itself. Returns nanoseconds. */
    long runTogether(BackendInstance backend, List<PendingInference> requests, Run call) {
        List<SingleRun> runs = new ArrayList<>(requests.size());
        List<Execution> executions = new ArrayList<>(requests.size());
        int rows = 0;
        call.start();
        for (PendingInference pending : requests) {
            SingleRun run = next();
            runs.add(run);
            executions.add(run.beginTogether(pending));
            rows += Math.max(1, pending.batchSize());
        }
        Throwable failure = null;
        call.markInferStarted();
        try {
            backend.executeApart(executions);
        } catch (Throwable e) {
            // Also checked exceptions, which other languages than Java throw from anywhere.
            failure = e;
        }
        call.end();
        if (failure == null) {
            counters().executed(rows, call);
        }
        for (int i = 0; i < runs.size(); i++) {
            if (runs.get(i).endTogether(requests.get(i), failure)) {
                keep(runs.get(i));
            }
        }
        call.clear();
        return call.endedNanos() - call.startedNanos();
    }

    private boolean detach(SingleRun run, PendingInference pending, DetachedRun rest) {
        if (!open || !detachable.tryAcquire()) {
            return false;
        }
        run.stopper().end(); // of the instance's part
        pending.detach();
        Thread.ofVirtual().name(instanceName + "-detached").start(() -> goOn(run, pending, rest));
        return true;
    }

    private SingleRun next() {
        lock.lock();
        try {
            SingleRun former = idle.poll();
            if (former != null) {
                return former;
            }
        } finally {
            lock.unlock();
        }
        return create(resources.counters().lend());
    }

    private void keep(SingleRun run) {
        lock.lock();
        try {
            idle.add(run);
        } finally {
            lock.unlock();
        }
    }

    private void goOn(SingleRun run, PendingInference pending, DetachedRun rest) {
        try {
            run.goOn(pending, rest);
        } catch (Throwable t) {
            failures.failRest(List.of(pending), t);
        } finally {
            keep(run);
            pending.endDetached();
            detachable.release();
        }
    }

    /** Waits for the runs that were detached, and says that nothing runs any more. */
    void close() {
        open = false;
        detachable.acquireUninterruptibly(DETACHED_LIMIT);
        countNoMore();
        detachable.release(DETACHED_LIMIT);
    }

    Run times() {
        return present.times();
    }

    /** What counts the runs of the instance's thread. */
    InstanceCounters counters() {
        return present.counters();
    }

    /** Gives up the counters; called when nothing is under way. May be called again. */
    void countNoMore() {
        if (!counting.compareAndSet(true, false)) {
            return;
        }
        lock.lock();
        try {
            idle.forEach(run -> resources.counters().giveBack(run.counters()));
        } finally {
            lock.unlock();
        }
        resources.counters().giveBack(present.counters());
    }

    /** Runs of one request each, one after the other, on the instance's thread or a detached run's. Not thread-safe. */
    static final class SingleRun {
        /** What {@link #run} returns of a run that goes on beside the instance. */
        static final long DETACHED = -1;

        private final SingleExecution execution;
        private final RunStopper stopper;
        private final RunFailures failures;
        private final InstanceCounters counters;

        /** Whether the present run goes on beside the instance; for the instance's thread. */
        private boolean left;

        /** Whether the present run is one of several that the backend does in one call. */
        private boolean together;

        private @Nullable PendingInference present;

        /** Starts a thread for the rest of runs. */
        @FunctionalInterface
        interface Detacher {
            /** Has another thread {@link #goOn}; false where nothing is started. */
            boolean detach(SingleRun run, PendingInference pending, DetachedRun rest);
        }

        /** @param counters count these runs, and no others at the same time */
        SingleRun(
                InstanceResources resources,
                RunStopper stopper,
                RunFailures failures,
                InstanceCounters counters,
                Detacher detacher) {
            @Nullable ResponseTable responses = resources.signature().decoupled() ? counters.responses() : null;
            execution = new SingleExecution(resources.pool(), responses, rest -> leave(detacher, rest));
            this.stopper = stopper;
            this.failures = failures;
            this.counters = counters;
            execution.run().beforeInfer(stopper::stopAgain);
        }

        private boolean leave(Detacher detacher, DetachedRun rest) {
            PendingInference pending = present;
            if (left || pending == null) {
                return false;
            }
            left = detacher.detach(this, pending, rest);
            return left;
        }

        /** Tells the engine to stop a run that nobody wants. */
        RunStopper stopper() {
            return stopper;
        }

        Run times() {
            return execution.run();
        }

        InstanceCounters counters() {
            return counters;
        }

        /** Runs a request whose run the stopper has begun. Returns nanoseconds, or {@link #DETACHED}. */
        long run(BackendInstance backend, PendingInference pending) {
            begin(pending);
            together = false;
            Throwable failure = null;
            try {
                backend.execute(execution);
            } catch (Throwable e) {
                // Also checked exceptions, which other languages than Java throw from anywhere.
                failure = e;
            }
            if (left) {
                if (failure != null) {
                    failures.log(failure); // the request has its own end
                }
                return DETACHED;
            }
            end(pending, failure);
            return execution.run().endedNanos() - execution.run().startedNanos();
        }

        private void begin(PendingInference pending) {
            left = false;
            present = pending;
            execution.begin(pending);
            execution.run().markExecuting();
        }

        /** Begins a run that the backend does in one call with others, which is counted by the caller. */
        Execution beginTogether(PendingInference pending) {
            begin(pending);
            together = true;
            return execution;
        }

        /** Ends a run that was begun with others, all failed if there is a {@code failure}; false if detached. */
        boolean endTogether(PendingInference pending, @Nullable Throwable failure) {
            if (!left) {
                end(pending, failure);
            }
            return !left;
        }

        /** Does the rest of a run that was detached, on the calling thread. */
        void goOn(PendingInference pending, DetachedRun rest) {
            execution.moveToCaller();
            stopper.begin(rest::stop, List.of(pending));
            stopper.stopAgain(); // it may have been given up while nobody watched
            Throwable failure = null;
            try {
                rest.run(execution);
            } catch (Throwable e) {
                failure = e;
            }
            end(pending, failure);
        }

        private void end(PendingInference pending, @Nullable Throwable failure) {
            stopper.end();
            try {
                if (failure != null) {
                    throw failure;
                }
                pending.request().markStepTaken();
                finish(pending);
            } catch (Throwable e) {
                execution.breakOff();
                failures.failAll(List.of(pending), e, execution.run());
            } finally {
                execution.clear();
            }
        }

        private void finish(PendingInference pending) {
            boolean failed = pending.hasFailed();
            try {
                execution.finish();
            } catch (GatunException e) {
                execution.breakOff();
                failures.fail(pending, e, failed ? FailureReason.BACKEND : FailureReason.OTHER, true, execution.run());
                return;
            }
            Optional<GatunException> lastFailure = execution.lastFailure();
            if (lastFailure.isPresent()) {
                failures.answered(pending, lastFailure.get());
                return;
            }
            if (together) {
                counters.answered(execution.run());
            } else {
                counters.executed(pending.batchSize(), execution.run());
            }
            execution.run().tellTimes();
        }
    }
}
