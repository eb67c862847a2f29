// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;

/**
 * The sessions that one instance runs on, and how: one with all cores for a run that has the machine to itself, and one
 * with a share of them for a run beside others. A run that is alone may be over sooner on a share, or, for a batch of several
 * requests, in parts that are run on shares side by side: it is run as such runs were fastest. Used by one thread at a time.
 */
final class InstanceSessions implements AutoCloseable {
    /**
     * To move a thread to another core takes some microseconds, and is worth it for runs that are not much shorter than
     * the kernel's time slices.
     */
    private static final long LONG_NANOS = 300_000;

    /**
     * How many threads runs have.
     *
     * @param all of a run on all cores
     * @param share of a run on a share of them; may be as many
     */
    record Threads(int all, int share) {}

    private final SessionPool pool;
    private final Company company;
    private final RunCores cores;
    private final Threads threads;
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
     * @param threads the threads of a run on all cores, and on a share of them
     * @param besideOthers how a run is spread that is not alone
     * @param tuning learns how those are spread that are
     * @throws GatunException when one cannot be opened
     */
    InstanceSessions(
            SessionPool pool, Company company, RunCores cores, Threads threads, Spread besideOthers, Tuning tuning) {
        this.pool = pool;
        this.company = company;
        this.cores = cores;
        this.threads = threads;
        this.besideOthers = besideOthers;
        this.choice = new SpreadChoice(tuning);
        onAll = pool.take(threads.all());
        try {
            onShare = pool.take(threads.share());
        } catch (RuntimeException | Error e) {
            pool.giveBack(threads.all());
            throw e;
        }
    }

    /** How many shares all cores make. */
    int shares() {
        return Math.max(1, threads.all() / threads.share());
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
        learns = isAlone && shares() > 1;
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
        pool.giveBack(threads.share());
        pool.giveBack(threads.all());
    }
}
