// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import java.util.List;

/**
 * What the server and its busiest versions did in a range of time.
 *
 * @param server the sums over all versions, and quantiles over all requests
 * @param versions the versions that had the most requests in the range, the busiest first
 */
public record Trends(TimeRange range, History server, List<VersionTrend> versions) {
    /** The most versions that are told of, however many there are. */
    public static final int MOST_VERSIONS = 32;

    /** The series that there are of each. */
    public static final List<Series> SHOWN = List.of(
            Series.REQUESTS_PER_SECOND,
            Series.FAILURES_PER_SECOND,
            Series.P50_NANOS,
            Series.P99_NANOS,
            Series.BUSY_INSTANCES);

    /** Keeps a copy. */
    public Trends {
        versions = List.copyOf(versions);
    }

    /**
     * A version's part. A point's p50 is the mean of the medians of its seconds, each as heavy as the second had requests;
     * its p99 is the highest of the seconds'.
     *
     * @param model the model's name
     */
    public record VersionTrend(String model, String version, History history) {}
}
