// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.time.Duration;

/**
 * How a load is measured.
 *
 * @param warmUp how long requests are made before they count
 * @param window how long a window is
 * @param rule when enough was measured
 * @param maxThreads how many requests of an open loop can be under way at most
 * @param seed of what is left to chance
 */
public record MeasurementPlan(Duration warmUp, Duration window, StoppingRule rule, int maxThreads, long seed) {}
