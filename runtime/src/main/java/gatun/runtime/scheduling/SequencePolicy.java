// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;

/**
 * How sequences share the instances of a model.
 *
 * @param strategy which steps run together
 * @param slots how many sequences an instance has at a time, at least one; the others wait for a slot
 * @param maxBatchSize how many steps may run together; 0, which counts as 1, for a model without a batch dimension
 * @param preferredBatchSizes sizes that are worth sending before all else; ascending; {@link Strategy#OLDEST} only
 * @param maxQueueDelayNanos how long the oldest step may be kept while its instance is idle, in the hope of more steps
 * @param minimumUtilization how many of an instance's slots must have a step for a batch that is not kept, as a part of
 *     all of them; {@link Strategy#DIRECT} only
 * @param maxIdleNanos how long a sequence may have nothing to do before it loses its slot
 * @param iterative whether a sequence ends as soon as nothing of it waits or runs; its steps may run again
 * @param queueCapacity how many steps may wait, over all sequences
 */
public record SequencePolicy(
        Strategy strategy,
        int slots,
        int maxBatchSize,
        List<Integer> preferredBatchSizes,
        long maxQueueDelayNanos,
        double minimumUtilization,
        long maxIdleNanos,
        boolean iterative,
        int queueCapacity) {
    /** Which steps of an instance's sequences run together. */
    public enum Strategy {
        /**
         * The steps of all sequences that have one; each keeps its place in the batch, which has gaps for the others.
         */
        DIRECT,
        /** As a dynamic batcher would have it; a step may be at any place of the batch. */
        OLDEST
    }

    /** Copies the list. */
    public SequencePolicy {
        preferredBatchSizes = List.copyOf(preferredBatchSizes);
    }

    /** Whether an instance with that many steps runs them now, or waits for more; {@link Strategy#DIRECT} only. */
    boolean isWorthwhile(int ready, long waitedNanos) {
        return maxQueueDelayNanos == 0 || ready >= minimumUtilization * slots || waitedNanos >= maxQueueDelayNanos;
    }

    /** Whether a sequence that has had nothing to do since {@code idleSince} loses its slot. */
    boolean isIdleForTooLong(long idleSince, long now) {
        return now - idleSince >= maxIdleNanos;
    }

    /** The same as a dynamic batcher has it. */
    BatchPolicy batches() {
        return new BatchPolicy(
                Math.max(1, maxBatchSize), preferredBatchSizes, maxQueueDelayNanos, false, List.of(queueCapacity), 0);
    }
}
