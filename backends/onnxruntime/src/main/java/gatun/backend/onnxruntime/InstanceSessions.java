// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;

/**
 * The sessions that one instance runs on: one with all cores for a run that has the machine to itself, and one with its
 * share of them for a run beside others. Used by one thread at a time.
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
    private final int threadsAlone;
    private final int threadsBeside;
    private final Session alone;
    private final Session beside;
    private int core = RunCores.NONE;
    private long begunNanos;
    private long lastNanos;

    /**
     * Sessions of {@code pool}.
     *
     * @param company tells whether a run of the model is alone
     * @param cores tells which core a run is on
     * @param threadsAlone the threads of a run that is alone
     * @param threadsBeside the threads of a run that is not; may be as many
     * @throws GatunException when one cannot be opened
     */
    InstanceSessions(SessionPool pool, Company company, RunCores cores, int threadsAlone, int threadsBeside) {
        this.pool = pool;
        this.company = company;
        this.cores = cores;
        this.threadsAlone = threadsAlone;
        this.threadsBeside = threadsBeside;
        alone = pool.take(threadsAlone);
        try {
            beside = pool.take(threadsBeside);
        } catch (RuntimeException | Error e) {
            pool.giveBack(threadsAlone);
            throw e;
        }
    }

    /** The session to describe the model by. */
    Session any() {
        return alone;
    }

    /** A run begins; the session for it. {@link #end} follows. */
    Session begin() {
        boolean isAlone = company.beginAlone();
        core = lastNanos < LONG_NANOS ? RunCores.NONE : cores.enter();
        begunNanos = System.nanoTime();
        return isAlone ? alone : beside;
    }

    /** The run has ended. */
    void end() {
        lastNanos = System.nanoTime() - begunNanos;
        cores.leave(core);
        company.end();
    }

    @Override
    public void close() {
        pool.giveBack(threadsBeside);
        pool.giveBack(threadsAlone);
    }
}
