package gatun.runtime.repository;

import gatun.protocol.inference.ModelConfig;
import gatun.protocol.inference.ModelEnsembling.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/** Ensembles that were found while models were loaded, and that are to be loaded when their members are there. Safe for any thread. */
final class PendingEnsembles {
    private final ReentrantLock lock = new ReentrantLock();
    private final SortedMap<String, Pending> pending = new TreeMap<>(); // guarded by lock

    /** An ensemble, the models that it needs, and how it is loaded. */
    private record Pending(ModelEntry entry, List<String> members, Runnable load) {}

    /**
     * Adds an ensemble.
     *
     * @param load loads it, and never throws
     */
    void add(ModelConfig config, ModelEntry entry, Runnable load) {
        List<String> members = config.getEnsembleScheduling().getStepList().stream()
                .map(Step::getModelName)
                .distinct()
                .toList();
        lock.lock();
        try {
            pending.put(entry.name(), new Pending(entry, members, load));
        } finally {
            lock.unlock();
        }
    }

    /** Loads them, each after those that it needs; those that need themselves get that for a reason. Called when nobody adds any more. */
    void load() {
        Map<String, Pending> all = all();
        SortedMap<String, List<String>> needs = new TreeMap<>();
        all.forEach((name, ensemble) -> needs.put(name, ensemble.members()));
        List<String> order = DependencyOrder.loading(needs);
        for (String name : order) {
            ensemble(all, name).load().run();
        }
        Set<String> circular = new TreeSet<>(all.keySet());
        order.forEach(circular::remove);
        for (String name : circular) {
            ensemble(all, name)
                    .entry()
                    .versions(List.of(VersionEntry.failed(name, "", "", reason(name, needs, circular), Duration.ZERO)));
        }
    }

    private Map<String, Pending> all() {
        lock.lock();
        try {
            return new TreeMap<>(pending);
        } finally {
            lock.unlock();
        }
    }

    private static Pending ensemble(Map<String, Pending> all, String name) {
        Pending found = all.get(name);
        if (found == null) {
            throw new AssertionError("no ensemble '" + name + "' is pending");
        }
        return found;
    }

    /** Follows the steps from an ensemble until one comes a second time. */
    private static String reason(String name, Map<String, List<String>> needs, Set<String> circular) {
        List<String> path = new ArrayList<>();
        String next = name;
        while (!path.contains(next)) {
            path.add(next);
            next = needs.getOrDefault(next, List.of()).stream()
                    .filter(circular::contains)
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("'" + name + "' needs itself by no way"));
        }
        path.add(next);
        return "circular dependency between ensembles: " + String.join(" -> ", path);
    }
}
