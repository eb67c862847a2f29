// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Map;
import java.util.TreeMap;

/**
 * Requests that did not end as they should.
 *
 * @param failures how many requests failed, by the text of the failure
 * @param wrongResponses how many responses were not as expected, by what was wrong
 */
public record Problems(Map<String, Long> failures, Map<String, Long> wrongResponses) {
    /** No problems. */
    public static final Problems NONE = new Problems(Map.of(), Map.of());

    /** How many requests failed. */
    public long failed() {
        return total(failures);
    }

    /** How many responses were not as expected. */
    public long wrong() {
        return total(wrongResponses);
    }

    /** The sum of both. */
    Problems plus(Problems other) {
        return new Problems(sum(failures, other.failures), sum(wrongResponses, other.wrongResponses));
    }

    private static long total(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private static Map<String, Long> sum(Map<String, Long> left, Map<String, Long> right) {
        Map<String, Long> sum = new TreeMap<>(left);
        right.forEach((text, count) -> sum.merge(text, count, Long::sum));
        return sum;
    }
}
