// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.SpreadChoice.Spread;
import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;

/**
 * The sessions that one instance runs on, and how: one for a run that has the machine to itself, and one for runs beside
 * others, which may be the same. A run that is alone may be over sooner on the latter, or, for a batch of several requests,
 * in parts side by side on it: it is run as such runs were fastest. Used by one thread at a time.
 */
final class InstanceSessions implements AutoCloseable {
    private final SessionPool pool;
    private final Company company;
    private final ThreadPlan plan;
    private final Session onAll;
    private final Session onShare;
    private final Spread besideOthers;
    private final SpreadChoice choice;

    /** Whether there is more than one way to run. */
    private final boolean hasChoice;

    // Of the run under way.
    private boolean isAlone;
    private long byteSize;
    private boolean divides;
    private long begunNanos;

    /**
     * Sessions of {@code pool}.
     *
     * @param company tells whether a run of the model is alone
     * @param plan the threads of the sessions
     * @param besideOthers how a run is spread that is not alone
     * @throws GatunException when one cannot be opened
     */
    InstanceSessions(SessionPool pool, Company company, ThreadPlan plan, Spread besideOthers, Tuning tuning) {
        this.pool = pool;
        this.company = company;
        this.plan = plan;
        this.besideOthers = besideOthers;
        this.choice = new SpreadChoice(tuning);
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

    /**
     * A run begins; how it is to be run. {@link #end} follows.
     *
     * @param divides whether it is for several requests, which can be run in parts
     */
    Spread begin(long byteSize, boolean divides) {
        if (!hasChoice) {
            return Spread.ON_ALL_CORES;
        }
        isAlone = company.beginAlone();
        this.byteSize = byteSize;
        this.divides = divides;
        begunNanos = System.nanoTime();
        return isAlone ? choice.next(byteSize, divides) : besideOthers;
    }

    Session session(Spread spread) {
        return spread == Spread.ON_ALL_CORES ? onAll : onShare;
    }

    void end(boolean hasSucceeded) {
        if (!hasChoice) {
            return;
        }
        company.end();
        if (isAlone && hasSucceeded) {
            choice.took(byteSize, divides, System.nanoTime() - begunNanos);
        }
    }

    @Override
    public void close() {
        pool.giveBack(plan.together());
        pool.giveBack(plan.alone());
    }
}
