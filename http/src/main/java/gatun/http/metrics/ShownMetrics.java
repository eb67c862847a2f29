// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import java.time.Duration;
import java.util.Optional;

/**
 * The numbers that the metrics show.
 *
 * @param latencies in which forms they tell how long requests took
 * @param hostInterval how old what they tell of the machine's processors and memory may be; empty where they tell
 *     nothing of them
 */
public record ShownMetrics(LatencyMetrics latencies, Optional<Duration> hostInterval) {
    /** What Triton shows by default. */
    public static final ShownMetrics STANDARD =
            new ShownMetrics(LatencyMetrics.STANDARD, Optional.of(Duration.ofSeconds(2)));
}
