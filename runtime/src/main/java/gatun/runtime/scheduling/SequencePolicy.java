// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/**
 * How sequences share the instances of a model.
 *
 * @param strategy which steps run together
 * @param slots how many sequences an instance has at a time, at least one; the others wait for a slot
 * @param batches how many steps may run together, at least one, and how long the oldest may be kept while its instance
 *     is idle, in the hope of more steps; preferred sizes count for {@link Strategy#OLDEST} only, and the usual
 *     capacity says how many steps may wait, over all sequences
 * @param minimumUtilization how many of an instance's slots must have a step for a batch that is not kept, as a part of
 *     all of them; {@link Strategy#DIRECT} only
 * @param maxIdleNanos how long a sequence may have nothing to do before it loses its slot
 * @param iterative whether a sequence ends as soon as nothing of it waits or runs; its steps may run again
 */
public record SequencePolicy(
        Strategy strategy,
        int slots,
        BatchPolicy batches,
        double minimumUtilization,
        long maxIdleNanos,
        boolean iterative) {
    /** Which steps of an instance's sequences run together. */
    public enum Strategy {
        /**
         * The steps of all sequences that have one; each keeps its place in the batch, which has gaps for the others.
         */
        DIRECT,
        /** As a dynamic batcher would have it; a step may be at any place of the batch. */
        OLDEST
    }

    /** Whether an instance with that many steps runs them now, or waits for more; {@link Strategy#DIRECT} only. */
    boolean isWorthwhile(int ready, long waitedNanos) {
        long delayNanos = batches.maxQueueDelayNanos();
        return delayNanos == 0 || ready >= minimumUtilization * slots || waitedNanos >= delayNanos;
    }

    /** Whether a sequence that has had nothing to do since {@code idleSince} loses its slot. */
    boolean isIdleForTooLong(long idleSince, long now) {
        return now - idleSince >= maxIdleNanos;
    }

    /** How many steps may wait, over all sequences. */
    int queueCapacity() {
        return batches.capacities().usual();
    }
}
