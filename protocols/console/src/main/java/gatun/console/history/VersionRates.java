// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.ModelIdentifier;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * What a version did lately. Requests, failures and inferences are those of the last second, {@code refused} those of
 * the last half minute, durations and runs those of the last ten seconds.
 *
 * @param inferencesPerSecond items of the answered requests
 * @param load what waits and runs now
 * @param p50Nanos the median of the durations; empty when no request was answered, or when too many versions are busy
 *     to measure this one
 * @param meanBatch items of a run; empty when there was none
 */
public record VersionRates(
        double requestsPerSecond,
        double failuresPerSecond,
        double inferencesPerSecond,
        Load load,
        OptionalLong p50Nanos,
        OptionalLong p99Nanos,
        OptionalDouble meanBatch,
        long refused) {
    /**
     * How busy a version is.
     *
     * @param pending requests that wait now
     * @param busyInstances instances that run something: those that do now, or as many as the runs that ended in the last
     *     second took together, whichever is more
     */
    public record Load(long pending, double busyInstances) {
        /** Nothing waits or runs. */
        static final Load NONE = new Load(0, 0);
    }

    /** Of a version that does nothing. */
    public static final VersionRates IDLE =
            new VersionRates(0, 0, 0, Load.NONE, OptionalLong.empty(), OptionalLong.empty(), OptionalDouble.empty(), 0);

    /** A version, in decimal, of a model. */
    public record VersionKey(ModelIdentifier model, String version) {}
}
