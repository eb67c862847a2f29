package gatun.runtime.repository;

import gatun.runtime.execution.ServedModel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** In which order models that ask others come up and go down. */
final class DependencyOrder {
    private DependencyOrder() {}

    /**
     * The models in rounds, so that none is in an earlier round than one that asks it: a round can go when those before it are gone.
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
     * The keys, so that each comes after those that it needs; what only depends on itself in the end is left out.
     *
     * @param needs the names that each key needs; names that are no keys need nothing
     */
    static List<String> loading(Map<String, ? extends List<String>> needs) {
        TreeMap<String, List<String>> left = new TreeMap<>(needs);
        List<String> order = new ArrayList<>();
        for (boolean progress = true; progress; ) {
            List<String> ready = left.keySet().stream()
                    .filter(name -> left.get(name).stream().noneMatch(left::containsKey))
                    .toList();
            order.addAll(ready);
            ready.forEach(left::remove);
            progress = !ready.isEmpty();
        }
        return order;
    }
}
