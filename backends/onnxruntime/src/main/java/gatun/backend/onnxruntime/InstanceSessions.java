// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;

/**
 * The sessions that one instance runs on, and how: one for a run that has the machine to itself, and one for runs beside
 * others, which may be the same. A run that is alone may be over sooner on the latter, or, for a batch of several requests,
 * in parts side by side on it: it is run as such runs were fastest. Used by one thread at a time.
 */
final class InstanceSessions implements AutoCloseable {
    /**
     * To move a thread to another core takes some microseconds, and is worth it for runs that are not much shorter than
     * the kernel's time slices.
     */
    private static final long LONG_NANOS = 300_000;

    private final SessionPool pool;
    private final Company company;
    private final RunCores cores;
    private final ThreadPlan plan;
    private final Session onAll;
    private final Session onShare;
    private final Spread besideOthers;
    private final SpreadChoice choice;

    // Of the run under way.
    private int core = RunCores.NONE;
    private boolean learns;
    private long byteSize;
    private boolean divides;
    private long begunNanos;
    private long lastNanos;

    /**
     * Sessions of {@code pool}.
     *
     * @param company tells whether a run of the model is alone
     * @param cores tells which core a run is on
     * @param plan the threads of the sessions
     * @param besideOthers how a run is spread that is not alone
     * @param tuning learns how those are spread that are
     * @throws GatunException when one cannot be opened
     */
    InstanceSessions(
            SessionPool pool, Company company, RunCores cores, ThreadPlan plan, Spread besideOthers, Tuning tuning) {
        this.pool = pool;
        this.company = company;
        this.cores = cores;
        this.plan = plan;
        this.besideOthers = besideOthers;
        this.choice = new SpreadChoice(tuning);
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

    /** The session to describe the model by. */
    Session any() {
        return onAll;
    }

    /**
     * A run begins; how it is to be run. {@link #end} follows.
     *
     * @param byteSize what its inputs take
     * @param divides whether it is for several requests, which can be run in parts
     */
    Spread begin(long byteSize, boolean divides) {
        boolean isAlone = company.beginAlone();
        learns = isAlone && (plan.alone() != plan.together() || divides);
        this.byteSize = byteSize;
        this.divides = divides;
        Spread spread = learns ? choice.next(byteSize, divides) : isAlone ? Spread.ON_ALL_CORES : besideOthers;
        core = spread == Spread.IN_PARTS || lastNanos < LONG_NANOS ? RunCores.NONE : cores.enter();
        begunNanos = System.nanoTime();
        return spread;
    }

    /** The session to run on. */
    Session session(Spread spread) {
        return spread == Spread.ON_ALL_CORES ? onAll : onShare;
    }

    /** The run has ended, with outputs or by a failure. */
    void end(boolean hasSucceeded) {
        lastNanos = System.nanoTime() - begunNanos;
        cores.leave(core);
        company.end();
        if (learns && hasSucceeded) {
            choice.took(byteSize, divides, lastNanos);
        }
    }

    @Override
    public void close() {
        pool.giveBack(plan.together());
        pool.giveBack(plan.alone());
    }
}
