// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.execution.ServedModel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** How models depend on those that they ask. */
final class DependencyOrder {
    private DependencyOrder() {}

    /**
     * The models in rounds, so that none is in an earlier round than one that asks it: a round can go when those before
     * it are gone.
     */
    static List<List<ServedModel>> closing(List<ServedModel> models) {
        List<List<ServedModel>> rounds = new ArrayList<>();
        List<ServedModel> left = models;
        while (!left.isEmpty()) {
            Set<String> asked = new HashSet<>();
            left.forEach(model -> asked.addAll(model.dependencies()));
            List<ServedModel> round =
                    left.stream().filter(model -> !asked.contains(model.name())).toList();
            rounds.add(round.isEmpty() ? left : round);
            left = round.isEmpty()
                    ? List.of()
                    : left.stream()
                            .filter(model -> asked.contains(model.name()))
                            .toList();
        }
        return rounds;
    }

    /**
     * The way from a model to one that is met twice, that one at its end too; empty when there is none.
     *
     * @param needs the names that each name needs
     */
    static List<String> circle(String name, Function<String, List<String>> needs) {
        List<String> path = new ArrayList<>();
        return circle(name, needs, path, new HashSet<>()) ? path : List.of();
    }

    private static boolean circle(
            String name, Function<String, List<String>> needs, List<String> path, Set<String> harmless) {
        if (path.contains(name)) {
            path.add(name);
            return true;
        }
        if (harmless.contains(name)) {
            return false;
        }
        path.add(name);
        for (String needed : needs.apply(name)) {
            if (circle(needed, needs, path, harmless)) {
                return true;
            }
        }
        path.removeLast();
        harmless.add(name);
        return false;
    }
}
