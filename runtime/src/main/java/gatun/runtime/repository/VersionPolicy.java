// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.wire.inference.ModelVersionPolicy;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Which of the versions that are present a model serves. */
final class VersionPolicy {
    /** How many versions a text lists at most. */
    private static final int MOST_LISTED = 20;

    private VersionPolicy() {}

    /** The versions that {@code policy} chooses of {@code present}, ascending; may be none. */
    static List<Long> choose(ModelVersionPolicy policy, SortedSet<Long> present) {
        return switch (policy.getPolicyChoiceCase()) {
            case ALL -> List.copyOf(present);
            case SPECIFIC ->
                present.stream()
                        .filter(policy.getSpecific().getVersionsList()::contains)
                        .toList();
            case LATEST ->
                latest(present, Integer.toUnsignedLong(policy.getLatest().getNumVersions()));
            case POLICYCHOICE_NOT_SET -> latest(present, 1);
        };
    }

    /** Which versions a policy names that are not there, beside those that are; empty where it names none of these. */
    static Optional<String> missing(ModelVersionPolicy policy, SortedSet<Long> present) {
        SortedSet<Long> named = new TreeSet<>(policy.getSpecific().getVersionsList());
        if (policy.getPolicyChoiceCase() != ModelVersionPolicy.PolicyChoiceCase.SPECIFIC
                || present.containsAll(named)) {
            return Optional.empty();
        }
        return Optional.of("the policy asks for " + listed(named) + "; there "
                + (present.isEmpty() ? "is none" : (present.size() == 1 ? "is " : "are ") + listed(present)));
    }

    private static String listed(SortedSet<Long> versions) {
        List<String> words =
                versions.stream().limit(MOST_LISTED).map(String::valueOf).toList();
        int last = words.size() - 1;
        if (versions.size() > MOST_LISTED) {
            return String.join(", ", words) + ", ...";
        }
        return last == 0 ? words.getFirst() : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
    }

    private static List<Long> latest(SortedSet<Long> present, long count) {
        return present.stream().skip(Math.max(0, present.size() - count)).toList();
    }
}
