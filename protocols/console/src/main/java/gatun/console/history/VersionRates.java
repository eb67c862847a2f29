// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.ModelStatistics;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * What a version did lately.
 *
 * @param requestsPerSecond answered requests of the last second
 * @param failuresPerSecond failed requests of the last second
 * @param inferencesPerSecond items of the answered requests of the last second
 * @param occupancy what waits and runs now
 * @param p50Nanos the median of the durations of the last ten seconds; empty when no request was answered in them, or
 *     when too many versions are busy to measure this one
 * @param p99Nanos what 99 of 100 of them did not exceed
 * @param meanBatch items of a run of the last ten seconds; empty when there was none
 * @param refused requests that the queue has refused in the last half minute
 */
public record VersionRates(
        double requestsPerSecond,
        double failuresPerSecond,
        double inferencesPerSecond,
        ModelStatistics.Occupancy occupancy,
        OptionalLong p50Nanos,
        OptionalLong p99Nanos,
        OptionalDouble meanBatch,
        long refused) {
    /** Of a version that does nothing. */
    public static final VersionRates IDLE = new VersionRates(
            0,
            0,
            0,
            ModelStatistics.Occupancy.NONE,
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalDouble.empty(),
            0);
}
