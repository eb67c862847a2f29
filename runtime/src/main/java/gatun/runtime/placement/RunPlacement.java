// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.runtime.placement.RunTimeEstimator.Trust;

/**
 * Decides on which thread a run is. All rules about that are here; whoever asks tells the facts. Immutable, but for what
 * its {@linkplain #inlineRuns() limiter} counts; thread-safe.
 *
 * <table>
 * <caption>Where a run may be</caption>
 * <tr><th>place</th><th>costs</th><th>decided by</th></tr>
 * <tr><td>the request's own thread, by an idle instance that is lent to it</td><td>no wake-up, and a carrier while it
 *     lasts</td><td>{@link #lendsInstances}, {@link #mayBorrow}, {@link #inlineRuns}</td></tr>
 * <tr><td>the same where the thread is a gRPC connection's reader</td><td>no wake-up for the call either; the client is
 *     not heard meanwhile</td><td>{@link #runsOnReader}</td></tr>
 * <tr><td>the same where the thread reads the requests of many HTTP connections</td><td>no wake-up for the request
 *     either; other connections wait</td><td>{@link #runsOnSharedReader}</td></tr>
 * <tr><td>the same where the thread is that of lanes</td><td>no wake-up for the request either; other lanes
 *     wait</td><td>{@link #runsWhereFound}</td></tr>
 * <tr><td>the thread of an instance that is awake</td><td>the end of the runs before</td>
 *     <td>{@link #isWakingDearer}, {@link #hasWaitedLong}</td></tr>
 * <tr><td>the thread of an idle instance</td><td>two wake-ups</td><td>otherwise</td></tr>
 * </table>
 *
 * A run by an engine in another process begins at one of these, too, and waits there for that process: which models
 * have one is the operator's choice and none of these rules'. Loans that last are ended by the {@link LoanWatchdog}.
 */
public final class RunPlacement {
    /**
     * About the time that it takes to wake a thread on another core. It is 5 us on bare metal and up to 50 us in a
     * virtual machine. It is not measured, since it need not be known: it only tells runs that are far shorter from runs
     * that are far longer. For one in between, either way costs about the same, and {@link #WATCH_NANOS} bounds what a
     * wrong guess can cost.
     */
    public static final long WAKING_NANOS = 20_000;

    /** How often an idle instance looks at the queue while others run: a ticket's longest wait beside it. */
    public static final long WATCH_NANOS = 1_000_000;

    /** A run of so many wake-ups is hardly longer for one: a tenth. */
    private static final int LONG_BESIDE_WAKING = 10;

    /** The limit after which a ticket, or a connection, no longer waits behind short runs: five wake-ups. */
    static final long LONG_WAIT_NANOS = 5 * WAKING_NANOS;

    /** A gRPC connection's first calls show whether they come one at a time, an HTTP connection's whether they are short. */
    private static final int FIRST_CALLS = 4;

    /** So many calls must have been alone after some that were not; each time twice as many. */
    private static final int FEWEST_ALONE = 64;

    private static final int MOST_ALONE = 1 << 12;

    private final boolean adaptive;
    private final InlineRunLimiter inlineRuns;

    /**
     * A placement with a limiter of its own, for tests.
     *
     * @param adaptive false for the plain way: each run on its instance's thread, no lent reader, and each ticket wakes
     *     an idle instance
     */
    public RunPlacement(boolean adaptive, InlineRunLimiter inlineRuns) {
        this.adaptive = adaptive;
        this.inlineRuns = inlineRuns;
    }

    /** The placement that counts with all others of this JVM. */
    public static RunPlacement of(boolean adaptive) {
        return new RunPlacement(adaptive, InlineRunLimiter.OF_THIS_JVM);
    }

    /** Limits the runs on request threads, of all models. */
    public InlineRunLimiter inlineRuns() {
        return inlineRuns;
    }

    /**
     * Whether a model's idle instances are lent to requests' threads at all: where no ticket may have to wait for
     * others.
     *
     * @param ordered whether tickets end in the order in which they came
     * @param maxQueueDelayNanos how long tickets may be kept for a batch, as somebody has configured
     */
    public boolean lendsInstances(boolean ordered, long maxQueueDelayNanos) {
        return adaptive && !ordered && maxQueueDelayNanos == 0;
    }

    /**
     * Whether an idle instance of a model that {@linkplain #lendsInstances lends} may be lent to a ticket's thread, as
     * far as the model is concerned. Where tickets share batches, a run that is long beside a wake-up is begun at once
     * only for those who come alone: the others gather while a thread wakes. For short runs one instance is lent while
     * all are idle: while it runs, those who come now may share a batch.
     *
     * @param batches whether tickets may share a run
     * @param allIdle whether no instance runs
     * @param haveCompany whether tickets have often come together of late
     */
    public boolean mayBorrow(RunTimeEstimator times, boolean batches, boolean allIdle, boolean haveCompany) {
        boolean isLong = times.typicalNanos() > LONG_BESIDE_WAKING * WAKING_NANOS;
        return times.areWithin(RunTimeEstimator.LONG_NANOS) && (!batches || (isLong ? !haveCompany : allIdle));
    }

    /**
     * Whether what waits is left to the instances that are awake, who will have come to it before an idle one could be
     * awake. Runs are not always like the past, so one of the idle instances must look from time to time.
     *
     * @param batches how many runs what waits will take
     * @param awake how many instances are awake
     * @param watched whether an idle instance looks by itself
     */
    public boolean isWakingDearer(RunTimeEstimator times, int batches, int awake, boolean watched) {
        return adaptive && watched && times.typicalNanos() * batches < WAKING_NANOS * awake;
    }

    /** Whether a ticket that has waited for {@code nanos} shows that the instances that are awake do not keep up. */
    public boolean hasWaitedLong(long nanos) {
        return nanos > LONG_WAIT_NANOS;
    }

    /** The trust that the calls of a gRPC connection come one at a time. */
    public Trust newReaderTrust() {
        return new Trust(FIRST_CALLS, FEWEST_ALONE, MOST_ALONE);
    }

    /**
     * Whether a gRPC call for inference runs on the thread that has read it. That pays where the client waits for each
     * response before it sends the next request, and leaves nothing to read meanwhile.
     *
     * @param alone whether the client has no other call under way and has sent nothing more
     * @param trust the connection's, which learns from this call
     */
    public boolean runsOnReader(boolean alone, Trust trust) {
        if (!alone) {
            trust.disprove();
            return false;
        }
        if (trust.isEarned()) {
            return adaptive;
        }
        trust.confirm();
        return false;
    }

    /** An estimate of how long the requests of an HTTP connection keep a thread, before there was any. */
    public RunTimeEstimator newConnectionTimes() {
        return new RunTimeEstimator(LONG_WAIT_NANOS, FIRST_CALLS);
    }

    /**
     * Whether the requests of an HTTP connection are answered by the thread that reads those of many connections, as far as
     * they are there as a whole.
     *
     * @param times what its requests took, from their first byte to the response
     */
    public boolean runsOnSharedReader(RunTimeEstimator times) {
        return adaptive && times.areWithin(LONG_WAIT_NANOS);
    }

    /**
     * Whether a request that a thread of lanes has found is done by that thread, which serves other lanes too. One that is
     * shorter than to wake another thread is, whoever waits; a short one is where nobody does.
     *
     * @param engine what the engine took for such requests
     * @param wholeNanos what they typically took in all, where such a thread did them; 0 where that is not known
     * @param alone whether this thread has had requests of one lane only of late, and no other waits
     */
    public boolean runsWhereFound(RunTimeEstimator engine, long wholeNanos, boolean alone) {
        long limit = alone ? RunTimeEstimator.SHORT_NANOS : WAKING_NANOS;
        return adaptive && wholeNanos <= limit && engine.areWithin(limit);
    }
}
