// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.wire.inference.ModelVersionPolicy;
import java.util.List;
import java.util.SortedSet;

/** Which of the versions that are present a model serves. */
final class VersionPolicy {
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

    private static List<Long> latest(SortedSet<Long> present, long count) {
        return present.stream().skip(Math.max(0, present.size() - count)).toList();
    }
}
