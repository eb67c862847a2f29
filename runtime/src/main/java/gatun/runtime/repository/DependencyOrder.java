// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.ModelIdentifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** How models depend on those that they ask. */
final class DependencyOrder {
    private DependencyOrder() {}

    /** The models in rounds to close one after another: none is in an earlier round than one that {@code needs} it. */
    static List<List<ModelIdentifier>> closing(Map<ModelIdentifier, Set<ModelIdentifier>> needs) {
        List<List<ModelIdentifier>> rounds = new ArrayList<>();
        Set<ModelIdentifier> left = new TreeSet<>(needs.keySet());
        while (!left.isEmpty()) {
            Set<ModelIdentifier> asked = new HashSet<>();
            left.forEach(model -> asked.addAll(needs.getOrDefault(model, Set.of())));
            List<ModelIdentifier> free =
                    left.stream().filter(model -> !asked.contains(model)).toList();
            List<ModelIdentifier> round = free.isEmpty() ? List.copyOf(left) : free;
            rounds.add(round);
            round.forEach(left::remove);
        }
        return rounds;
    }

    /** The way from a model to one that is met twice, that one at its end too; empty when there is none. */
    static List<ModelIdentifier> circle(ModelIdentifier name, Function<ModelIdentifier, List<ModelIdentifier>> needs) {
        List<ModelIdentifier> path = new ArrayList<>();
        return circle(name, needs, path, new HashSet<>()) ? path : List.of();
    }

    private static boolean circle(
            ModelIdentifier name,
            Function<ModelIdentifier, List<ModelIdentifier>> needs,
            List<ModelIdentifier> path,
            Set<ModelIdentifier> harmless) {
        if (path.contains(name)) {
            path.add(name);
            return true;
        }
        if (harmless.contains(name)) {
            return false;
        }
        path.add(name);
        for (ModelIdentifier needed : needs.apply(name)) {
            if (circle(needed, needs, path, harmless)) {
                return true;
            }
        }
        path.removeLast();
        harmless.add(name);
        return false;
    }
}
