// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Optional;

/**
 * What a version counts while it serves. Thread-safe. {@link #activity} and {@link #isBusy} read a few numbers and make
 * no objects, so that frequent readers can pass over idle versions.
 */
public interface VersionCounters {
    /** A number that grows with each request that is answered or fails. It means nothing else. */
    long activity();

    /** Whether a request waits or runs now; false of a version that does not tell its {@linkplain #statistics occupancy}. */
    boolean isBusy();

    /** The counters as they are now. */
    ModelStatistics statistics();

    /** How long its requests took; empty for one that does not measure that. */
    Optional<ModelLatencies> latencies();

    /** How many instances its configuration has now. */
    int instanceCount();

    /** What is shown one version after the other. */
    @FunctionalInterface
    interface Look {
        /** Takes in a version of {@code model}; the version is in decimal. */
        void accept(ModelIdentifier model, String version, VersionCounters counters);
    }
}
