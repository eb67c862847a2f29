// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;
import java.util.Map;

/**
 * How requests become batches and wait. A batch's sizes add up to {@code maxBatchSize} at most, 0 to run each alone;
 * preferred ones, ascending and not above it, are sent before all else. While an instance is idle the oldest request
 * may be kept for {@code maxQueueDelayNanos} in the hope of more, with 0 as long as {@link AdaptiveBatchDelay} has
 * found to pay. {@code preserveOrdering} has requests end as submitted; {@code capacities} of priority levels count the
 * requests that wait, or with {@code capacitiesCountSizes} their sizes.
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

    /** A policy whose capacities count requests. */
    public BatchPolicy(
            int maxBatchSize,
            List<Integer> preferredBatchSizes,
            long maxQueueDelayNanos,
            boolean preserveOrdering,
            QueueCapacities capacities) {
        this(maxBatchSize, preferredBatchSizes, maxQueueDelayNanos, preserveOrdering, capacities, false);
    }

    /** Each request alone, first in, first out; {@code queueCapacity} may wait for an instance. */
    public static BatchPolicy single(int queueCapacity) {
        return new BatchPolicy(0, List.of(), 0, false, QueueCapacities.all(queueCapacity));
    }

    /** Batches of up to {@code maxBatchSize} of whatever waits when an instance is free. */
    public static BatchPolicy upTo(int maxBatchSize, int queueCapacity) {
        return new BatchPolicy(maxBatchSize, List.of(maxBatchSize), 0, false, QueueCapacities.all(queueCapacity));
    }

    /** The same without batches: each request alone. */
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

    /** Requests that may wait in each priority level: {@code own} by level, {@code usual} in the others. */
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
