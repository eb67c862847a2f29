// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;
import java.util.Map;

/**
 * How tickets become batches and how they may wait.
 *
 * @param maxBatchSize the most that the sizes of a batch's tickets may add up to; 0 to run each ticket alone
 * @param preferredBatchSizes sizes that are worth sending before all else; ascending, none above {@code maxBatchSize}
 * @param maxQueueDelayNanos how long the oldest ticket may be kept while an instance is idle, in the hope of more
 *     tickets; with 0 as long as {@link Gathering} has found to pay
 * @param preserveOrdering whether tickets end in the order they were submitted
 * @param capacities how many may wait in each priority level
 * @param capacitiesCountSizes whether {@code capacities} is about the sizes of those that wait, taken together, and not
 *     about how many they are
 */
public record BatchPolicy(
        int maxBatchSize,
        List<Integer> preferredBatchSizes,
        long maxQueueDelayNanos,
        boolean preserveOrdering,
        QueueCapacities capacities,
        boolean capacitiesCountSizes) {
    /** Copies the list. */
    public BatchPolicy {
        preferredBatchSizes = List.copyOf(preferredBatchSizes);
    }

    /** A policy whose capacities count tickets. */
    public BatchPolicy(
            int maxBatchSize,
            List<Integer> preferredBatchSizes,
            long maxQueueDelayNanos,
            boolean preserveOrdering,
            QueueCapacities capacities) {
        this(maxBatchSize, preferredBatchSizes, maxQueueDelayNanos, preserveOrdering, capacities, false);
    }

    /**
     * Each ticket alone, first in, first out.
     *
     * @param queueCapacity how many may wait for an instance
     */
    public static BatchPolicy single(int queueCapacity) {
        return new BatchPolicy(0, List.of(), 0, false, QueueCapacities.all(queueCapacity));
    }

    /** Batches of up to {@code maxBatchSize} of whatever waits when an instance is free. */
    public static BatchPolicy upTo(int maxBatchSize, int queueCapacity) {
        return new BatchPolicy(maxBatchSize, List.of(maxBatchSize), 0, false, QueueCapacities.all(queueCapacity));
    }

    /** The same without batches: each ticket alone. */
    BatchPolicy alone() {
        return new BatchPolicy(0, List.of(), 0, preserveOrdering, capacities, capacitiesCountSizes);
    }

    int fullSize() {
        return preferredBatchSizes.isEmpty() ? maxBatchSize : preferredBatchSizes.getLast();
    }

    boolean prefers(int size) {
        for (int i = 0; i < preferredBatchSizes.size(); i++) {
            if (preferredBatchSizes.get(i) == size) {
                return true;
            }
        }
        return false;
    }

    /**
     * How many tickets may wait in each priority level. Immutable.
     *
     * @param usual how many in a level that is not among {@code own}
     * @param own how many in the levels for which it is not the usual number
     */
    public record QueueCapacities(int usual, Map<Long, Integer> own) {
        /** Copies the map. */
        public QueueCapacities {
            own = Map.copyOf(own);
        }

        /** The same number in each level. */
        public static QueueCapacities all(int capacity) {
            return new QueueCapacities(capacity, Map.of());
        }

        /** How many may wait in {@code level}. */
        int of(long level) {
            return own.isEmpty() ? usual : own.getOrDefault(level, usual);
        }
    }
}
