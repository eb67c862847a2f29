// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/**
 * How sequences share a model's instances: {@code slots} at a time each, at least one. Of {@code batches}, preferred
 * sizes count for {@link Strategy#OLDEST} only, and the usual capacity is of all sequences' steps. {@code
 * minimumUtilization} is the part of the slots with a step for a batch that is not kept, {@link Strategy#DIRECT} only.
 * A sequence loses its slot after {@code maxIdleNanos} with nothing to do; if {@code iterative} it ends as soon as
 * nothing of it waits or runs, and steps may run again.
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
        /** The steps of all sequences that have one, each in its place in the batch; gaps for the others. */
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
