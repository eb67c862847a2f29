// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.configuration.NearestName;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the flag that somebody meant. */
final class NearestFlag {
    private static final int MOST_FLAGS = 3;
    private static final int LEAST_WORDS = 2;
    private static final int LEAST_LETTERS = 3;

    private NearestFlag() {}

    /**
     * The nearest flag to {@code typed}, values and {@code -} or {@code _} aside; empty when none is near. Where none is
     * spelt alike, it is the one that has most of the words, or several such with "or" between them.
     */
    static Optional<String> to(String typed, Collection<String> flags) {
        Map<String, String> plain =
                flags.stream().collect(Collectors.toMap(NearestFlag::plain, flag -> flag, (first, second) -> first));
        return NearestName.to(plain(typed), plain.keySet())
                .map(plain::get)
                .or(() -> withMostWords(plain(typed), plain));
    }

    private static Optional<String> withMostWords(String typed, Map<String, String> flags) {
        List<String> words = words(typed);
        long most = flags.keySet().stream()
                .mapToLong(flag -> sharedWords(words, flag))
                .max()
                .orElse(0);
        if (most < LEAST_WORDS) {
            return Optional.empty();
        }
        List<String> nearest = flags.keySet().stream()
                .filter(flag -> sharedWords(words, flag) == most)
                .sorted(Comparator.comparingInt((String flag) -> words(flag).size())
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
        int fewest = words(nearest.getFirst()).size();
        return Optional.of(nearest.stream()
                .filter(flag -> words(flag).size() == fewest)
                .limit(MOST_FLAGS)
                .map(flags::get)
                .collect(Collectors.joining(" or ")));
    }

    /** How many words of a flag were typed, or their beginnings, or longer forms: "cert" and "certificate" are alike. */
    private static long sharedWords(List<String> typed, String flag) {
        return words(flag).stream()
                .filter(word -> typed.stream().anyMatch(other -> isAlike(word, other)))
                .count();
    }

    private static boolean isAlike(String one, String other) {
        return one.equals(other)
                || (Math.min(one.length(), other.length()) >= LEAST_LETTERS
                        && (one.startsWith(other) || other.startsWith(one)));
    }

    private static List<String> words(String flag) {
        return Stream.of(flag.split("-")).filter(word -> !word.isEmpty()).toList();
    }

    private static String plain(String flag) {
        int equals = flag.indexOf('=');
        return (equals < 0 ? flag : flag.substring(0, equals)).replace('_', '-');
    }
}
