// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How often a model version's requests were found in the response cache since it was loaded. Times are totals in
 * nanoseconds.
 *
 * @param hitCount requests answered from the cache
 * @param hitNanos looking them up, and making the responses
 * @param missCount requests that were not there
 * @param missNanos looking those up, and storing their responses
 */
public record CacheStatistics(long hitCount, long hitNanos, long missCount, long missNanos) {
    /** Of a version whose responses are not cached. */
    public static final CacheStatistics NONE = new CacheStatistics(0, 0, 0, 0);
}
