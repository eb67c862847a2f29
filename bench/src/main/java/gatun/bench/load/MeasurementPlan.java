// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.time.Duration;

/**
 * The plan of a measurement.
 *
 * @param warmUp how long requests are made before they count
 * @param window how long a window is
 * @param rule says when enough was measured
 * @param maxThreads the most requests of an open loop that can be under way
 * @param seed the seed of random choices
 */
public record MeasurementPlan(Duration warmUp, Duration window, StoppingRule rule, int maxThreads, long seed) {}
