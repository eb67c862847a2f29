// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

/** A number of a version that is kept for each second. */
public enum Series {
    /** Answered requests. */
    REQUESTS_PER_SECOND("requestsPerSecond"),
    /** Failed requests. */
    FAILURES_PER_SECOND("failuresPerSecond"),
    /** The median of the durations of the second's answered requests. */
    P50_NANOS("p50Nanos"),
    /** What 99 of 100 of them did not exceed. */
    P99_NANOS("p99Nanos"),
    /** The median of their waits for an instance. */
    QUEUE_P50_NANOS("queueP50Nanos"),
    /** The median of their times in the engine. */
    INFER_P50_NANOS("inferP50Nanos"),
    /** Requests that waited at the second's end. */
    PENDING("pending"),
    /** Instances at the second's end. */
    INSTANCES("instances"),
    /** Instances that ran something, as {@link VersionRates.Load} counts them. */
    BUSY_INSTANCES("busyInstances"),
    /** Items of a run. */
    MEAN_BATCH("meanBatch");

    private final String key;

    Series(String key) {
        this.key = key;
    }

    /** Its name in JSON. */
    public String key() {
        return key;
    }
}
