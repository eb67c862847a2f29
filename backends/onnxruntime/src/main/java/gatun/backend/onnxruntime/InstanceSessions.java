// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.RecentConcurrency;
import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner.ExecutionMode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.util.List;

/**
 * The sessions of an instance: one for runs that have the machine to themselves, one, perhaps the same, for others. A
 * lone run is made the way such runs were fastest, also on the latter or in parts. Used by one thread at a time.
 */
final class InstanceSessions implements AutoCloseable {
    private final SessionPool pool;
    private final RecentConcurrency company;
    private final ThreadPlan plan;
    private final Session onAll;
    private final Session onShare;
    private final ExecutionMode besideOthers;
    private final ExecutionModeTuner choice;

    /** Whether there is more than one way to run. */
    private final boolean hasChoice;

    // Of the run under way.
    private boolean isAlone;
    private long byteSize;
    private boolean divides;
    private long begunNanos;

    /** {@code company} tells whether a run is alone. Throws {@link GatunException} when a session cannot be opened. */
    InstanceSessions(
            SessionPool pool, RecentConcurrency company, ThreadPlan plan, ExecutionMode besideOthers, Tuning tuning) {
        this.pool = pool;
        this.company = company;
        this.plan = plan;
        this.besideOthers = besideOthers;
        this.choice = new ExecutionModeTuner(tuning);
        this.hasChoice = plan.alone() != plan.together() || plan.parts() > 1;
        onAll = pool.take(plan.alone());
        try {
            onShare = pool.take(plan.together());
        } catch (RuntimeException | Error e) {
            pool.giveBack(plan.alone());
            throw e;
        }
    }

    /** How many parts of a batch are run side by side at most; 1 where batches are not divided. */
    int parts() {
        return plan.parts();
    }

    Session any() {
        return onAll;
    }

    /** Begins a run, which {@link #end} ends; {@code divides} where it has several requests that can run apart. */
    ExecutionMode begin(long byteSize, boolean divides) {
        if (!hasChoice) {
            return ExecutionMode.ON_ALL_CORES;
        }
        isAlone = company.beginAlone();
        this.byteSize = byteSize;
        this.divides = divides;
        begunNanos = System.nanoTime();
        return isAlone ? choice.next(byteSize, divides) : besideOthers;
    }

    Session session(ExecutionMode mode) {
        return mode == ExecutionMode.ON_ALL_CORES ? onAll : onShare;
    }

    void end(boolean hasSucceeded) {
        if (!hasChoice) {
            return;
        }
        company.end();
        if (isAlone && hasSucceeded) {
            choice.recordRun(byteSize, divides, System.nanoTime() - begunNanos);
        }
    }

    @Override
    public void close() {
        pool.giveBack(plan.together());
        pool.giveBack(plan.alone());
    }

    /** Learns the fastest {@link ExecutionMode}, by size of runs and whether they divide. Used by one thread at a time. */
    static final class ExecutionModeTuner {
        private static final List<ExecutionMode> DIVIDED = List.of(ExecutionMode.values());
        private static final List<ExecutionMode> WHOLE = List.of(ExecutionMode.ON_A_SHARE, ExecutionMode.ON_ALL_CORES);

        /** Sizes from one power of two to the next have a tuner of their own. */
        private static final int SIZES = Long.SIZE;

        private final Tuning tuning;
        private final Tuner[] whole = new Tuner[SIZES];
        private final Tuner[] divided = new Tuner[SIZES];

        ExecutionModeTuner(Tuning tuning) {
            this.tuning = tuning;
        }

        /** The execution mode for a run. Unless the run fails, {@link #recordRun} follows. */
        ExecutionMode next(long byteSize, boolean divides) {
            return spreads(divides).get(tuner(byteSize, divides).way());
        }

        /** The last run that {@link #next} was asked for took so long. */
        void recordRun(long byteSize, boolean divides, long nanos) {
            // Runs of one tuner differ in size by up to a factor of two, and their times are nearly proportional to it.
            tuner(byteSize, divides).recordRun((double) nanos, (double) Math.max(1, byteSize));
        }

        private static List<ExecutionMode> spreads(boolean divides) {
            return divides ? DIVIDED : WHOLE;
        }

        private Tuner tuner(long byteSize, boolean divides) {
            Tuner[] tuners = divides ? divided : whole;
            int index = SIZES - 1 - Long.numberOfLeadingZeros(Math.max(1, byteSize));
            if (tuners[index] == null) {
                List<ExecutionMode> spreads = spreads(divides);
                tuners[index] = tuning.tuner(
                        Subject.SPREAD,
                        spreads.stream().map(ExecutionMode::text).toList(),
                        new Trials(spreads.size(), spreads.indexOf(ExecutionMode.ON_ALL_CORES), 2, 1));
            }
            return tuners[index];
        }

        /** How a run is spread over the cores; what takes fewer threads comes first. */
        enum ExecutionMode {
            /** At once, by the session that runs beside one another share. */
            ON_A_SHARE("on fewer threads"),

            /** The requests of a batch in parts side by side, by the session that they share. */
            IN_PARTS("batches in parts side by side"),

            /** At once, by the session of runs that have the machine to themselves. */
            ON_ALL_CORES("on all cores");

            private final String text;

            ExecutionMode(String text) {
                this.text = text;
            }

            String text() {
                return text;
            }
        }
    }
}
