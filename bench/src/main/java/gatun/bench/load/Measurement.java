// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Map;

/**
 * The result of a load.
 *
 * @param load what was asked of the server
 * @param window the last windows as one
 * @param windows how many windows there were in all
 * @param verdict whether the last windows are alike; CONTINUE when it was interrupted
 * @param failures requests that failed from the warm-up on, counted by the text of the failure
 * @param wrongResponses responses from the warm-up on that were not as expected, counted by what was wrong
 * @param overdue requests that were due at the end, and were not sent
 */
public record Measurement(
        Load load,
        Window window,
        int windows,
        StoppingRule.Verdict verdict,
        Map<String, Long> failures,
        Map<String, Long> wrongResponses,
        long overdue) {
    /** How many requests failed, the warm-up's included. */
    public long failed() {
        return failures.values().stream().mapToLong(Long::longValue).sum();
    }

    /** How many responses were not as expected, the warm-up's included. */
    public long wrong() {
        return wrongResponses.values().stream().mapToLong(Long::longValue).sum();
    }
}
