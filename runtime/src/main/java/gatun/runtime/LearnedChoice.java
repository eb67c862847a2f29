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
 * @param way which of them was chosen
 * @param gain how many times as fast as the usual way the best other one was: more than 1 where another way is better
 */
public record LearnedChoice(Subject subject, List<String> ways, String way, double gain) {
    /** The choice in a line for people, such as {@code batches: kept for callers who come back, 1.3 x}. */
    public String text() {
        return subject.word() + ": " + way + ", " + String.format(Locale.ROOT, "%.2f", gain)
                + " x by another way than usual";
    }
}
