// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import gatun.bench.load.Window.Problems;
import java.time.Duration;

/**
 * The result of a load.
 *
 * @param load what was asked of the server
 * @param window the last windows as one
 * @param windows how many windows there were in all
 * @param verdict whether the last windows are alike; CONTINUE when it was interrupted
 * @param problems requests from the warm-up on that did not end as they should
 * @param overdue requests that were due at the end, and were not sent
 */
public record Measurement(
        Load load, Window window, int windows, StoppingRule.Verdict verdict, Problems problems, long overdue) {

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

    /**
     * How far a measurement is.
     *
     * @param load the load on the server
     * @param window the number of the window that is measured, from 1; 0 for the warm-up
     * @param part how much of it has passed, from 0 to 1
     * @param previous the window before; an empty one in the first
     */
    public record MeasurementProgress(Load load, int window, double part, Window previous) {}
}
