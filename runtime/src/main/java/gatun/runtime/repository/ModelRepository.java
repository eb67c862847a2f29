package gatun.runtime.repository;

import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.runtime.ModelState;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.execution.ServedModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;

/**
 * The models of the server, by name. Filled once at start; any thread may look models up meanwhile and afterwards. Owns the
 * models that it loaded.
 */
public final class ModelRepository {
    private final List<Path> repositories;
    private final ModelLoader loader;
    private volatile SortedMap<String, ModelEntry> models = new TreeMap<>();

    private ModelRepository(
            List<Path> repositories, Backends backends, BufferPool pool, boolean autoComplete, int queueLimit) {
        this.repositories = List.copyOf(repositories);
        loader = new ModelLoader(backends, pool, autoComplete, queueLimit, new RepositoryMembers(() -> models));
    }

    /** A repository of these directories, without any model loaded. */
    public static ModelRepository of(
            List<Path> repositories, Backends backends, BufferPool pool, boolean autoComplete, int queueLimit) {
        return new ModelRepository(repositories, backends, pool, autoComplete, queueLimit);
    }

    /**
     * Loads every model that is there and waits until each is ready or has a reason why not.
     *
     * @param threadCount how many models are loaded at a time
     * @throws GatunException when a directory of the repository cannot be read
     */
    public void loadAll(int threadCount) {
        load(RepositoryScan.scan(repositories), threadCount);
    }

    /**
     * Loads the named models and waits until each is ready or has a reason why not.
     *
     * @throws GatunException when a directory of the repository cannot be read, or a name is not one of a directory
     */
    public void load(List<String> names, int threadCount) {
        names.forEach(ModelName::check);
        SortedMap<String, RepositoryScan.Finding> chosen = new TreeMap<>();
        SortedMap<String, RepositoryScan.Finding> found = RepositoryScan.scan(repositories);
        for (String name : names) {
            chosen.put(
                    name,
                    found.getOrDefault(
                            name,
                            new RepositoryScan.Finding.Conflict("there is no directory '" + name
                                    + "' in the model repository; it holds: " + String.join(", ", found.keySet()))));
        }
        load(chosen, threadCount);
    }

    private void load(SortedMap<String, RepositoryScan.Finding> found, int threadCount) {
        SortedMap<String, ModelEntry> entries = new TreeMap<>();
        found.keySet().forEach(name -> entries.put(name, new ModelEntry(name)));
        PendingEnsembles ensembles = new PendingEnsembles();
        try (ExecutorService threads = Executors.newFixedThreadPool(
                threadCount,
                Thread.ofPlatform().name("model-load-", 0).daemon(true).factory())) {
            for (ModelEntry entry : entries.values()) {
                switch (found.get(entry.name())) {
                    case RepositoryScan.Finding.Conflict conflict ->
                        entry.versions(
                                List.of(VersionEntry.failed(entry.name(), "", "", conflict.reason(), Duration.ZERO)));
                    case RepositoryScan.Finding.Model model -> {
                        entry.versions(List.of(loading(entry.name())));
                        threads.execute(() -> loader.load(model.directory(), entry, ensembles));
                    }
                }
            }
            models = entries;
        }
        ensembles.load();
    }

    private static VersionEntry loading(String name) {
        return new VersionEntry(name, "", "", ModelState.LOADING, "", Duration.ZERO, Optional.empty());
    }

    /**
     * The version that is to answer.
     *
     * @param version as the client wrote it; empty for the highest that is ready
     * @throws GatunException NOT_FOUND, UNAVAILABLE or INVALID_ARGUMENT with the protocol's text
     */
    public ServedModel model(String name, String version) {
        long number = version.isEmpty() ? -1 : VersionText.parse(version);
        ModelEntry entry = models.get(name);
        if (entry == null) {
            throw ModelEntry.unknown(name);
        }
        return version.isEmpty() ? entry.latest() : entry.version(number);
    }

    /** Whether every version that should be served is. */
    public boolean ready() {
        return entries().stream().allMatch(entry -> entry.state() == ModelState.READY);
    }

    /** Every version, by name and version. */
    public List<ModelStatus> index() {
        return entries().stream().map(VersionEntry::status).toList();
    }

    /** The counters of every ready version, by name and version. */
    public List<ModelStatistics> statistics() {
        return entries().stream()
                .filter(entry -> entry.state() == ModelState.READY)
                .flatMap(entry -> entry.model().stream())
                .map(ServedModel::statistics)
                .toList();
    }

    private List<VersionEntry> entries() {
        return models.values().stream()
                .flatMap(model -> model.versions().stream())
                .map(VersionEntry::now)
                .toList();
    }

    /**
     * Unloads every model: new requests are refused at once, those that were accepted may take until the grace is over.
     *
     * @return whether all ended; otherwise engines are still at work
     */
    public boolean close(Duration grace) {
        List<ServedModel> open = new ArrayList<>();
        entries().forEach(entry -> entry.model().ifPresent(open::add));
        long deadline = System.nanoTime() + grace.toNanos();
        boolean ended = true;
        // What asks others goes before them: its requests may still need them.
        for (List<ServedModel> round : DependencyOrder.closing(open)) {
            change(
                    entry -> entry.state() == ModelState.READY
                            && entry.model().filter(round::contains).isPresent(),
                    ModelState.UNLOADING,
                    "");
            // All at once, so that none admits requests while another drains.
            round.forEach(ServedModel::drain);
            for (ServedModel model : round) {
                ended &= model.close(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
        }
        change(entry -> entry.state() == ModelState.UNLOADING, ModelState.UNAVAILABLE, "unloaded");
        return ended;
    }

    private void change(Predicate<VersionEntry> which, ModelState state, String reason) {
        for (ModelEntry model : models.values()) {
            model.versions(model.versions().stream()
                    .map(entry -> which.test(entry) ? entry.in(state, reason) : entry)
                    .toList());
        }
    }
}
