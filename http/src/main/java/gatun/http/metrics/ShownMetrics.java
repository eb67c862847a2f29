// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import java.time.Duration;
import java.util.Optional;

/**
 * The choice of metrics that are shown.
 *
 * @param latencies the forms in which they show how long requests took
 * @param hostInterval the greatest age of the values of the machine's processors and memory; empty where they are not
 *     shown
 */
public record ShownMetrics(LatencyMetrics latencies, Optional<Duration> hostInterval) {
    /** Triton's default. */
    public static final ShownMetrics STANDARD =
            new ShownMetrics(LatencyMetrics.STANDARD, Optional.of(Duration.ofSeconds(2)));
}
