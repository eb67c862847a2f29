// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import java.util.OptionalDouble;

/**
 * How busy a GPU is, for the metrics; values that the GPU does not report are empty.
 *
 * @param uuid the GPU's unique identifier
 * @param utilization the share of time in which it works, 0 to 1
 * @param memoryBytes all its memory
 * @param usedBytes the part of it that is in use
 * @param powerWatts the power that it draws
 * @param powerLimitWatts the power that it may draw
 * @param energyJoules the energy that it has used since the server was started
 */
public record GpuUse(
        String uuid,
        OptionalDouble utilization,
        OptionalDouble memoryBytes,
        OptionalDouble usedBytes,
        OptionalDouble powerWatts,
        OptionalDouble powerLimitWatts,
        OptionalDouble energyJoules) {}
