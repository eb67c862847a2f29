// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/** Decides how many of the tickets that wait become a batch now. Triton's rules for its dynamic batcher. */
final class BatchDecision {
    /** None: the next moments may bring a better batch. */
    static final int WAIT = 0;

    private BatchDecision() {}

    /**
     * How many of the first tickets to send now, at least one; or {@link #WAIT}, until the oldest has waited for the
     * policy's delay or more tickets have come.
     *
     * @param sizes the sizes of the tickets in the order of their turn, at least one; those that come after a ticket
     *     which cannot share the batch are left out
     * @param blocked whether a ticket that cannot share the batch follows
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
