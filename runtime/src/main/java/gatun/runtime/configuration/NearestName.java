// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the name that somebody meant. */
public final class NearestName {
    private NearestName() {}

    /** The name that differs from {@code typed} in the fewest letters; empty when none is near enough to be meant. */
    public static Optional<String> to(String typed, Collection<String> names) {
        int limit = Math.max(2, typed.length() / 3);
        return names.stream()
                .filter(name -> distance(typed, name) <= limit)
                .min(Comparator.comparingInt((String name) -> distance(typed, name))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** The least number of letters to insert, delete or replace to make one of the other (Levenshtein). */
    public static int distance(String left, String right) {
        int[] previous = new int[right.length() + 1];
        int[] row = new int[right.length() + 1];
        for (int j = 0; j <= right.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= left.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= right.length(); j++) {
                int replaced = previous[j - 1] + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(previous[j], row[j - 1]) + 1);
            }
            int[] done = previous;
            previous = row;
            row = done;
        }
        return previous[right.length()];
    }
}
