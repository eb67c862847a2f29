// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.spi.Tuning.Subject;
import java.util.List;
import java.util.Locale;

/**
 * What a model version has learned last about one subject.
 *
 * @param subject what was tried
 * @param ways what could be chosen, the usual way among them
 * @param way the number of the one that was chosen
 * @param gain what the usual way costs, divided by what the best other one does: more than 1 where another is better
 */
public record LearnedChoice(Subject subject, List<String> ways, int way, double gain) {
    /** Keeps a copy of the ways. */
    public LearnedChoice {
        ways = List.copyOf(ways);
    }

    /** The choice in a line for people, such as {@code batches: kept for callers who come back, 1.30 x}. */
    public String text() {
        return String.format(
                Locale.ROOT, "%s: %s (another way than usual is %.2f x as fast)", subject.word(), ways.get(way), gain);
    }
}
