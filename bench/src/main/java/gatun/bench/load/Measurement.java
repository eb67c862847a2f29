// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import gatun.bench.load.Window.Problems;
import java.time.Duration;

/**
 * The result of a load.
 *
 * @param window the last windows as one
 * @param windows how many windows there were in all
 * @param verdict whether the last windows are alike; CONTINUE when it was interrupted
 * @param problems requests from the warm-up on that did not end as they should
 * @param overdue requests that were due at the end, and were not sent
 */
public record Measurement(
        Load load, Window window, int windows, StoppingRule.Verdict verdict, Problems problems, long overdue) {

    /** The plan of a measurement. An open loop has at most {@code maxThreads} requests under way. */
    public record MeasurementPlan(Duration warmUp, Duration window, StoppingRule rule, int maxThreads, long seed) {}

    /** The progress in {@code window}, from 1, or 0 in the warm-up: {@code part}, from 0 to 1, has passed. */
    public record MeasurementProgress(Load load, int window, double part, Window previous) {}
}
