package gatun.server.commandline;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the flag that somebody meant. */
final class NearestFlag {
    private NearestFlag() {}

    /**
     * The flag that differs from {@code typed} in the fewest letters; empty when none is near enough to be meant. What
     * stands behind an equals sign, and the choice between {@code -} and {@code _}, do not count.
     */
    static Optional<String> to(String typed, Collection<String> flags) {
        String name = plain(typed);
        int limit = Math.max(2, name.length() / 3);
        return flags.stream()
                .filter(flag -> distance(name, plain(flag)) <= limit)
                .min(Comparator.comparingInt((String flag) -> distance(name, plain(flag)))
                        .thenComparing(Comparator.naturalOrder()));
    }

    private static String plain(String flag) {
        int equals = flag.indexOf('=');
        return (equals < 0 ? flag : flag.substring(0, equals)).replace('_', '-');
    }

    /** The least number of letters to insert, delete or replace to make one of the other (Levenshtein). */
    static int distance(String left, String right) {
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
