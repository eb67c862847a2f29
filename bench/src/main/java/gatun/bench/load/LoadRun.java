// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import gatun.bench.load.Measurement.MeasurementPlan;
import gatun.bench.load.Measurement.MeasurementProgress;
import gatun.bench.load.StoppingRule.Verdict;
import gatun.bench.load.Window.ClientCost;
import gatun.bench.load.Window.Problems;
import gatun.bench.load.Worker.TextTally;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** One load on one target. Owns the threads and callers until {@link #measure} returns. Not thread-safe. */
public final class LoadRun {
    private static final long TICK_NANOS = 100_000_000;
    private static final long END_LIMIT_MILLIS = 10_000;

    private final Target target;
    private final Load load;
    private final MeasurementPlan plan;
    private final Clock clock = Clock.SYSTEM;
    private final CostMeter meter = new CostMeter();
    private final TextTally failures = new TextTally();
    private final TextTally wrongResponses = new TextTally();
    private final List<Caller> callers = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private long windowStart;
    private long bytesBefore;
    private ClientCost costBefore = ClientCost.NONE;
    private Optional<ServerCounters> countersBefore = Optional.empty();

    private LoadRun(Target target, Load load, MeasurementPlan plan) {
        this.target = target;
        this.load = load;
        this.plan = plan;
    }

    /**
     * Puts load on the target until enough was measured, or {@code interrupted} returns true. {@code listener} is told
     * several times per second how far the run is, on this thread.
     */
    public static Measurement measure(
            Target target,
            Load load,
            MeasurementPlan plan,
            BooleanSupplier interrupted,
            Consumer<MeasurementProgress> listener) {
        LoadRun run = new LoadRun(target, load, plan);
        try {
            return run.measure(interrupted, listener);
        } finally {
            run.end();
        }
    }

    private Measurement measure(BooleanSupplier interrupted, Consumer<MeasurementProgress> listener) {
        int count = load instanceof Load.Concurrency closed ? closed.requests() : plan.maxThreads();
        for (int i = 0; i < count; i++) {
            callers.add(target.caller(i));
        }
        Pace pace = load.pace(clock.nanoTime(), plan.seed());
        for (Caller caller : callers) {
            Worker worker = new Worker(caller, pace, clock, failures, wrongResponses);
            workers.add(worker);
            threads.add(Thread.ofPlatform()
                    .name("bench-worker-" + threads.size())
                    .daemon()
                    .start(worker));
        }
        begin();
        Window warmUp = await(plan.warmUp().toNanos(), 0, Window.empty(), interrupted, listener);
        List<Window> windows = new ArrayList<>();
        Verdict verdict = answersNothing(warmUp) ? Verdict.UNSTABLE : Verdict.CONTINUE;
        while (verdict == Verdict.CONTINUE && !interrupted.getAsBoolean()) {
            Window previous = windows.isEmpty() ? Window.empty() : windows.getLast();
            windows.add(await(plan.window().toNanos(), windows.size() + 1, previous, interrupted, listener));
            verdict = answersNothing(windows.getLast())
                    ? Verdict.UNSTABLE
                    : plan.rule().decide(windows);
        }
        long overdue = pace.overdue(clock.nanoTime());
        return result(warmUp, windows, verdict, overdue);
    }

    private Measurement result(Window warmUp, List<Window> windows, Verdict verdict, long overdue) {
        Window everything = windows.stream().reduce(warmUp, Window::plus);
        Window last =
                windows.isEmpty() ? warmUp : StoppingRule.last(windows).stream().reduce(Window.empty(), Window::plus);
        return new Measurement(load, last, windows.size(), verdict, everything.problems(), overdue);
    }

    /** Whether no request was answered; where every one fails, more of them tell nothing new. */
    private static boolean answersNothing(Window window) {
        return window.answered() == 0 && window.problems().failed() > 0;
    }

    private Window await(
            long nanos,
            int number,
            Window previous,
            BooleanSupplier interrupted,
            Consumer<MeasurementProgress> listener) {
        long end = windowStart + nanos;
        for (long now = clock.nanoTime(); now < end && !interrupted.getAsBoolean(); now = clock.nanoTime()) {
            listener.accept(new MeasurementProgress(load, number, 1 - (end - now) / (double) nanos, previous));
            clock.waitUntil(Math.min(end, now + TICK_NANOS), interrupted);
        }
        return cut();
    }

    private void begin() {
        windowStart = clock.nanoTime();
        costBefore = meter.read(threads);
        countersBefore = target.counters();
    }

    private Window cut() {
        long now = clock.nanoTime();
        Histogram latencies = new Histogram(Worker.SIGNIFICANT_DIGITS);
        long lag = 0;
        long bytes = 0;
        for (Worker worker : workers) {
            worker.drainLatencies(latencies);
            lag = Math.max(lag, worker.drainLag());
            bytes += worker.tensorBytes();
        }
        ClientCost cost = meter.read(threads);
        Optional<ServerCounters> counters = target.counters();
        Window window = new Window(
                now - windowStart,
                latencies,
                new Problems(failures.drain(), wrongResponses.drain()),
                bytes - bytesBefore,
                lag,
                cost.since(costBefore),
                counters.flatMap(after -> countersBefore.map(after::since)));
        windowStart = now;
        bytesBefore = bytes;
        costBefore = cost;
        countersBefore = counters;
        return window;
    }

    private void end() {
        workers.forEach(Worker::stop);
        if (!join()) {
            // Calls that do not end by themselves end when their connection closes.
            target.close();
            join();
        }
        callers.forEach(Caller::close);
    }

    private boolean join() {
        long end = System.nanoTime() + END_LIMIT_MILLIS * 1_000_000;
        boolean ended = true;
        for (Thread thread : threads) {
            try {
                thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            ended &= !thread.isAlive();
        }
        return ended;
    }

    /** Reads what the process has spent so far. */
    static final class CostMeter {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

        /** The cost so far; {@code workers} are alive. */
        ClientCost read(List<Thread> workers) {
            long[] ids = new long[workers.size()];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = workers.get(i).threadId();
            }
            long ofWorkers = 0;
            for (long bytes : threads.getThreadAllocatedBytes(ids)) {
                ofWorkers += Math.max(0, bytes);
            }
            return new ClientCost(ofWorkers, threads.getTotalThreadAllocatedBytes(), system.getProcessCpuTime());
        }
    }
}
