// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

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
        Load load, Window window, int windows, StoppingRule.Verdict verdict, Problems problems, long overdue) {}
