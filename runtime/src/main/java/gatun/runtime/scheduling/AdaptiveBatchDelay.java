// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.util.Arrays;
import java.util.List;

/**
 * Keeps a batch for a moment where that makes responses come sooner: callers who ask again when answered come back
 * together, and running the first of them alone would make the others wait. The last runs tell how many to expect:
 * those that they were for, and those that waited meanwhile.
 *
 * <p>A tuner finds out whether it pays, by the time between runs' ends for each request: a request's own time leaves
 * out the wait before the scheduler. Not tried where requests follow one another, runs are short, or the policy sets a
 * delay. Guarded by the scheduler's lock.
 */
final class AdaptiveBatchDelay {
    /** Shorter runs are over before others could have come. */
    static final long SHORTEST_RUN_NANOS = 100_000;

    /** The share of a typical run that a batch is kept at most, as a power of two: 1/4. */
    private static final int KEEP_SHIFT = 2;

    /** The longest that a batch is kept: within it callers on the same machine, or near it, are back. */
    static final long LONGEST_NANOS = 2_000_000;

    /** Of so many runs the greatest tells how many to expect: callers do not meet in each of them. */
    private static final int RECENT = 4;

    /** A run that had company counts so much more than one that had not. */
    private static final int COMPANY_GAIN = 4;

    /** What runs that had company must count together for trials. */
    static final int COMPANY = 64;

    private static final int MOST_COMPANY = 2 * COMPANY;

    /** The runs of a turn; the first show what the runs before have left, and do not count. */
    static final Trials TRIALS = new Trials(2, 0, 4, 12);

    private static final List<String> WAYS = List.of("run at once", "kept for callers who come back");
    private static final int KEPT = 1;

    private final int maxBatchSize;
    private final boolean mayKeep;
    private final Tuning tuning;
    private Run[] running = new Run[0];

    /** The last numbers of requests that came together. */
    private final int[] recent = new int[RECENT];

    private int next;
    private int expected;
    private long endedNanos;
    private long keepNanos;
    private int company;

    // The requests that are kept at present.
    private boolean isKeeping;
    private long keptUntil;

    /** By the powers of two that numbers of expected requests come up to: what pays for two need not pay for eight. */
    private final Tuner[] tuners = new Tuner[Integer.SIZE];

    /** What an instance runs. */
    private static final class Run {
        private int size;
        private int requests;
    }

    /** @param policy tells whether there are batches, and whether somebody has said how long to keep them */
    AdaptiveBatchDelay(BatchPolicy policy, Tuning tuning) {
        this.tuning = tuning;
        maxBatchSize = policy.maxBatchSize();
        mayKeep = maxBatchSize > 1 && policy.maxQueueDelayNanos() == 0 && tuning.learns(Subject.BATCHES);
    }

    /** Whether a request that comes alone is to wait for others. */
    boolean expectsMoreThan(int size) {
        return size < expected && keepNanos > 0 && keeps();
    }

    /** Whether requests have often waited for the same instances of late, or were run together. */
    boolean hasCompany() {
        return company >= COMPANY;
    }

    private boolean keeps() {
        Tuner tuner = tuner();
        return (hasCompany() ? tuner.way() : tuner.chosen()) == KEPT;
    }

    private Tuner tuner() {
        int index = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, expected - 1));
        if (tuners[index] == null) {
            tuners[index] = tuning.tuner(Subject.BATCHES, WAYS, TRIALS);
        }
        return tuners[index];
    }

    /** For how long a request may be expected that does not come alone, from {@code now} on; 0 when none is. */
    long comingNanos(long now) {
        return expectsMoreThan(1) ? Math.max(0, endedNanos + keepNanos - now) : 0;
    }

    /** How long requests of {@code size} wait for others from {@code now} on; 0 for not at all. */
    long keepNanos(int size, long now) {
        if (!expectsMoreThan(size)) {
            return 0;
        }
        if (!isKeeping) {
            isKeeping = true;
            keptUntil = endedNanos + keepNanos;
        }
        return Math.max(0, keptUntil - now);
    }

    void begun(int instance, int size, int requests) {
        if (mayKeep) {
            isKeeping = false;
            Run run = run(instance);
            run.size = size;
            run.requests = requests;
        }
    }

    private Run run(int instance) {
        int known = running.length;
        if (instance >= known) {
            running = Arrays.copyOf(running, instance + 1);
            for (int i = known; i <= instance; i++) {
                running[i] = new Run();
            }
        }
        return running[instance];
    }

    /** Notes the end of a run, while {@code waiting} requests wait; {@code typicalNanos} is the average of runs. */
    void ended(int instance, long typicalNanos, int waiting, long now) {
        if (!mayKeep) {
            return;
        }
        Run run = run(instance);
        recent[next] = Math.min(maxBatchSize, run.size + waiting);
        next = (next + 1) % RECENT;
        expected = greatest(recent);
        long sinceLastNanos = now - endedNanos;
        endedNanos = now;
        keepNanos = typicalNanos < SHORTEST_RUN_NANOS ? 0 : Math.min(typicalNanos >> KEEP_SHIFT, LONGEST_NANOS);
        boolean isAlone = run.requests + waiting < 2 || keepNanos == 0;
        company = isAlone ? Math.max(0, company - 1) : Math.min(MOST_COMPANY, company + COMPANY_GAIN);
        if (hasCompany()) {
            tuner().recordRun((double) sinceLastNanos, run.requests);
        }
    }

    private static int greatest(int[] numbers) {
        int greatest = 0;
        for (int number : numbers) {
            greatest = Math.max(greatest, number);
        }
        return greatest;
    }
}
