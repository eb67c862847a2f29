// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.InstanceThreads.DecisionLock;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Runs requests on a model's instances as a {@link Dispatcher} decides; has clock, lock and threads. Thread-safe. */
public final class Scheduler<T extends PendingRequest> implements PendingRequest.Queue {
    private final DecisionLock lock = new DecisionLock();
    private final Dispatcher<T> dispatcher;
    private final InstanceThreads<T> threads;
    private final LongAdder runsOnInstanceThreads = new LongAdder();

    /** Null where every request runs on the thread of its instance. */
    private final @Nullable InlineExecutor<T> lent;

    private Scheduler(
            BatchPolicy policy,
            List<? extends BatchRunner<T>> runners,
            Tuning tuning,
            RunPlacement placement,
            Duration idle) {
        threads = new InstanceThreads<>(runners, lock, this::serve, this::stop, idle);
        BatchDispatcher<T> batches = new BatchDispatcher<>(
                policy, runners.size(), threads.turns(), placement, new AdaptiveBatchDelay(policy, tuning));
        dispatcher = batches;
        lent = batches.lends() ? new InlineExecutor<>(lock, batches, threads, placement.inlineRuns()) : null;
        if (lent != null) {
            lock.guard(lent::recall, lent::offer);
        }
    }

    private Scheduler(SequencePolicy policy, List<? extends BatchRunner<T>> runners, Duration idle) {
        threads = new InstanceThreads<>(runners, lock, this::serve, this::stop, idle);
        dispatcher = new SequenceDispatcher<>(policy, runners.size(), threads.turns());
        lent = null;
    }

    /**
     * Has each runner, at least one, opened by its own thread and waits for all. When one fails, closes the others and
     * throws its failure.
     */
    public static <T extends PendingRequest> Scheduler<T> open(
            BatchPolicy policy, List<? extends BatchRunner<T>> runners, Tuning tuning) {
        return open(policy, runners, tuning, RunPlacement.of(tuning.learns(Subject.THREADS)), InstanceThread.IDLE);
    }

    /** As {@link #open(BatchPolicy, List, Tuning)}, learning whatever can be learned. */
    public static <T extends PendingRequest> Scheduler<T> open(
            BatchPolicy policy, List<? extends BatchRunner<T>> runners) {
        return open(policy, runners, new ModelTuning(EnumSet.allOf(Subject.class)));
    }

    /** As {@link #open(BatchPolicy, List, Tuning)}, with {@code placement}, and threads that end after {@code idle}. */
    static <T extends PendingRequest> Scheduler<T> open(
            BatchPolicy policy,
            List<? extends BatchRunner<T>> runners,
            Tuning tuning,
            RunPlacement placement,
            Duration idle) {
        return new Scheduler<>(policy, runners, tuning, placement, idle).opened();
    }

    /** As {@link #open(BatchPolicy, List, Tuning)}, for steps of sequences, each on one instance. */
    public static <T extends PendingRequest> Scheduler<T> open(
            SequencePolicy policy, List<? extends BatchRunner<T>> runners) {
        return new Scheduler<>(policy, runners, InstanceThread.IDLE).opened();
    }

    private Scheduler<T> opened() {
        try {
            threads.open();
        } catch (RuntimeException | Error e) {
            close(InstanceThreads.OPENING_GRACE);
            throw e;
        }
        adjustLending();
        return this;
    }

    /** Has each request run alone from now on, whatever the policy says. To be called before the first is submitted. */
    public void runAlone() {
        lock.lock();
        try {
            dispatcher.runAlone();
        } finally {
            lock.unlock();
        }
    }

    private void adjustLending() {
        if (lent != null) {
            lent.adjust();
        }
    }

    /** Takes a request, which must be new, or refuses it. Never blocks for longer than a queue operation. */
    public Admission submit(T request) {
        request.submitTo(this);
        if (lent != null && lent.tryRun(request)) {
            return Admission.ACCEPTED;
        }
        Admission admission = Admission.ACCEPTED;
        int woken = Dispatcher.NONE;
        List<Sequence> ended = List.of();
        int instance;
        lock.lock();
        try {
            instance = lent == null ? Dispatcher.NONE : lent.lend(request);
            if (instance == Dispatcher.NONE) {
                long now = System.nanoTime();
                admission = dispatcher.submit(request, now);
                woken = dispatcher.instanceToWake(now);
                ended = dispatcher.takeEnded();
            }
        } finally {
            lock.unlock();
        }
        if (lent != null && instance != Dispatcher.NONE) {
            lent.run(instance, request);
            return admission;
        }
        follow(woken, ended);
        if (admission == Admission.ACCEPTED) {
            request.taken();
        }
        return admission;
    }

    /** Carries out a decision, without the lock: frees the memory of ended sequences, and wakes an instance. */
    private void follow(int woken, List<Sequence> ended) {
        close(ended);
        threads.wake(woken);
    }

    private static void close(List<Sequence> ended) {
        for (int i = 0; i < ended.size(); i++) {
            ended.get(i).close();
        }
    }

    @Override
    public boolean withdraw(PendingRequest request) {
        boolean withdrawn;
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            long now = System.nanoTime();
            withdrawn = dispatcher.withdraw(request, now);
            woken = dispatcher.instanceToWake(now);
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return withdrawn;
    }

    @Override
    public void expire(PendingRequest request) {
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            dispatcher.expire(request);
            // Without it, or behind them, the others may be a batch that waits for nothing more.
            woken = dispatcher.instanceToWake(System.nanoTime());
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
    }

    /** How many requests wait for an instance. */
    public int pendingCount() {
        return dispatcher.pendingCount();
    }

    /** How many instances run requests. */
    public int busyCount() {
        lock.lock();
        try {
            return dispatcher.busyCount();
        } finally {
            lock.unlock();
        }
    }

    /** Where its runs were so far. */
    public RunCounts runCounts() {
        return new RunCounts(lent == null ? 0 : lent.runCount(), runsOnInstanceThreads.sum());
    }

    /** Whether it ended by a fault of its own, which is logged: it refuses everything, as if closed. */
    public boolean isBroken() {
        return threads.isBroken();
    }

    /** A woken instance thread's life. True at its end; false if {@link InstanceThread#sleep} lets the thread end. */
    private boolean serve(InstanceThread<T> thread) {
        List<T> batch = new ArrayList<>();
        LastRun last = new LastRun();
        while (true) {
            long sleepNanos = takeOrRefuse(thread, last, batch);
            if (sleepNanos == Dispatcher.END) {
                return true;
            }
            if (batch.isEmpty()) {
                if (!thread.sleep(sleepNanos)) {
                    return false;
                }
                last.nanos = 0;
            } else {
                run(thread, batch, last);
            }
        }
    }

    /** As {@link #take}; a fault ends the requests that it has taken out of the queue already. */
    private long takeOrRefuse(InstanceThread<T> thread, LastRun last, List<T> batch) {
        try {
            return take(thread, last, batch);
        } catch (Throwable t) {
            batch.forEach(PendingRequest::refuse);
            throw t;
        }
    }

    /** As {@link Dispatcher#take}, after a run, or after sleeping. */
    private long take(InstanceThread<T> thread, LastRun last, List<T> batch) {
        long sleepNanos;
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            long now = System.nanoTime();
            if (last.nanos > 0) {
                dispatcher.recordRun(thread.ordinal(), last.nanos, last.waiting, now);
            }
            sleepNanos = dispatcher.take(thread.ordinal(), now, batch);
            woken = dispatcher.instanceToWake(now);
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return sleepNanos;
    }

    /** Runs a batch and ends its requests. States of sequences that end are freed before their clients are woken. */
    private void run(InstanceThread<T> thread, List<T> batch, LastRun last) {
        last.nanos = 0;
        runsOnInstanceThreads.increment();
        try {
            last.nanos = thread.run(batch);
        } finally {
            last.waiting = dispatcher.pendingCount();
            batch.removeIf(PendingRequest::isDetached);
            if (!batch.isEmpty()) {
                end(batch);
            }
            batch.clear();
        }
    }

    /** What an instance has run last. */
    private static final class LastRun {
        /** How long it took; 0 when the instance has slept since. */
        private long nanos;

        /** How many requests waited before anybody knew that it had ended. */
        private int waiting;
    }

    private void end(List<T> batch) {
        if (dispatcher.followsRuns()) {
            finish(batch);
        }
        batch.forEach(PendingRequest::complete);
    }

    @Override
    @SuppressWarnings("unchecked") // it was submitted to this
    public void endDetached(PendingRequest request) {
        end(List.of((T) request));
    }

    private void finish(List<T> batch) {
        List<Sequence> ended;
        lock.lock();
        try {
            dispatcher.finish(batch, System.nanoTime());
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        close(ended);
    }

    /**
     * Runs requests by other runners from now on; refuses and delays none. Waits until the {@code added} ones are open;
     * when one fails, closes those, throws its failure, and nothing has changed. {@code removed} ones begin nothing
     * new, and each is closed by its thread, not waited for, when it has finished what only it can. One runner must
     * stay. For one caller at a time. False when nothing was changed because the scheduler stops.
     */
    public boolean exchange(List<? extends BatchRunner<T>> added, List<? extends BatchRunner<T>> removed) {
        if (!threads.exchange(dispatcher, added, removed, this::adjustLending)) {
            return false;
        }
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            woken = dispatcher.instanceToWake(System.nanoTime());
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return true;
    }

    /** Refuses new requests without waiting; accepted ones still end, and then the instances. Idempotent. */
    public void drain() {
        end(true);
    }

    /**
     * As {@link #drain}, and waits for that; what still waits for an instance after the grace is refused. Whether all
     * instances have ended: otherwise what they use must stay open, and this may be called again.
     */
    public boolean close(Duration grace) {
        drain();
        if (threads.join(grace)) {
            return true;
        }
        stop();
        return threads.join(Duration.ZERO);
    }

    private void stop() {
        end(false);
    }

    private void end(boolean gracefully) {
        List<Sequence> ended;
        lock.lock();
        try {
            long now = System.nanoTime();
            if (gracefully) {
                dispatcher.drain(now);
            } else {
                dispatcher.stop(now);
            }
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        close(ended);
        threads.wakeAll(dispatcher.pendingCount() > 0);
    }
}
