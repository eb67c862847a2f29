// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Map;

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
