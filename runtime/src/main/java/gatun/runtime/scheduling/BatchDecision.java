// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/** Decides how many of the requests that wait become a batch now. Triton's rules for its dynamic batcher. */
final class BatchDecision {
    /** None: the next moments may bring a better batch. */
    static final int WAIT = 0;

    private BatchDecision() {}

    /**
     * How many of the first requests, at least one, to send now, or {@link #WAIT}. {@code sizes} are those of the
     * requests in their order, up to one that cannot share the batch, in which case it is {@code blocked}.
     */
    static int decide(BatchPolicy policy, int[] sizes, int count, boolean blocked, long waitedNanos) {
        long delayNanos = policy.maxQueueDelayNanos();
        int full = policy.fullSize();
        int best = 0;
        int total = 0;
        int fitting = 0;
        boolean stopped = blocked;
        for (; fitting < count; fitting++) {
            int next = total + sizes[fitting];
            if (next > full && best == 0) {
                best = fitting;
            }
            if (next > policy.maxBatchSize() && fitting > 0) {
                stopped = true;
                break;
            }
            total = next;
            if (policy.prefers(total)) {
                best = fitting + 1;
            }
        }
        boolean overdue = delayNanos > 0 && waitedNanos >= delayNanos;
        if (best > 0 && !overdue) {
            return best;
        }
        if (stopped || total >= full || delayNanos == 0 || overdue) {
            return fitting;
        }
        return WAIT;
    }
}
