// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.EngineStatistics;
import gatun.runtime.configuration.AbsentEngines;
import gatun.runtime.configuration.EngineCatalog;
import gatun.spi.Backend;
import gatun.spi.ModelServer;
import gatun.spi.Setting;
import gatun.spi.discovery.InstalledBackends;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engines of this server, each started when the first model needs it. Owns them. Safe for any thread. */
public final class Backends implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

    /** The option of every engine that decides whether load requests may bring its models. */
    private static final String ALLOW_UPLOADS = "allow-uploads";

    private final SortedMap<String, Entry> entries = new TreeMap<>();

    /** The engines whose models run in processes; made when the first such model comes. */
    private final Map<String, Entry> isolated = new ConcurrentHashMap<>();

    private final IsolationRule isolation;
    private final InstalledBackends installed;
    private final EngineCatalog catalog;
    private final ModelServer server;

    /** An engine and its start. */
    private static final class Entry {
        final Backend backend;
        final Map<String, String> options;
        final boolean takesUploads;
        /** Keeps an engine from being started twice, and only that: others start meanwhile. Guards the fields below. */
        final ReentrantLock starting = new ReentrantLock();

        boolean started;

        @Nullable
        GatunException failure;

        /** @throws GatunException INVALID_ARGUMENT for an {@code allow-uploads} that is neither true nor false */
        Entry(Backend backend, Map<String, String> options) {
            this.backend = backend;
            Map<String, String> own = new HashMap<>(options);
            String uploads = own.remove(ALLOW_UPLOADS);
            takesUploads = uploads == null ? backend.takesUploads() : isTrue(backend.name(), uploads);
            this.options = Map.copyOf(own);
        }

        /** Only what clearly says yes opens the door. */
        private static boolean isTrue(String backend, String value) {
            return switch (value) {
                case "true" -> true;
                case "false" -> false;
                default ->
                    throw GatunException.invalidArgument(
                            Setting.backendOption(backend, ALLOW_UPLOADS, value) + ": expected true or false");
            };
        }
    }

    /**
     * @param installed the engines of the process; owned by this from now on
     * @param more engines of the program that embeds the server, which hide those that come with it
     * @param options the options of each engine, by its name
     * @param server what engines reach other models by
     * @param isolation which models run in processes
     * @throws GatunException when {@code isolation} names an engine that is not there, or an option of an engine that the
     *     server itself reads is wrong; {@code installed} is closed then
     */
    public Backends(
            InstalledBackends installed,
            List<Backend> more,
            Map<String, Map<String, String>> options,
            ModelServer server,
            IsolationRule isolation) {
        this.isolation = isolation;
        this.installed = installed;
        this.server = server;
        try {
            enter(more, options);
            requireIsolated();
        } catch (GatunException e) {
            installed.close();
            throw e;
        }
        catalog = new EngineCatalog(
                entries.values().stream().map(entry -> entry.backend).toList());
    }

    /** What the engines declare of themselves. */
    public EngineCatalog catalog() {
        return catalog;
    }

    private void enter(List<Backend> more, Map<String, Map<String, String>> options) {
        Stream.concat(installed.services().stream(), more.stream())
                .forEach(backend -> entries.put(
                        backend.name(), new Entry(backend, options.getOrDefault(backend.name(), Map.of()))));
        for (Backend backend : installed.ofDirectory()) {
            String name = backend.name();
            Entry hidden = entries.put(name, new Entry(backend, options.getOrDefault(name, Map.of())));
            if (hidden != null) {
                LOG.warn(
                        "Backend '{}' of {} hides another of that name",
                        name,
                        backend.getClass().getName());
            }
        }
        for (String name : options.keySet()) {
            if (!name.isEmpty() && !entries.containsKey(name)) {
                LOG.warn(
                        "{} names backend '{}', which is not part of this server; known: {}",
                        Setting.BACKEND_CONFIG,
                        name,
                        known());
            }
        }
    }

    /** Whether load requests may bring the files of models of that engine; false for one that is not there. */
    boolean takesUploads(String name) {
        Entry entry = entries.get(name);
        return entry != null && entry.takesUploads;
    }

    /** What the operator writes to let load requests bring models of that engine, for texts. */
    static String allowUploads(String name) {
        return Setting.backendOption(name, ALLOW_UPLOADS, true);
    }

    /** The parameters that load requests may set of models of that engine; none for one that is not there. */
    Set<String> requestParameters(String name) {
        Entry entry = entries.get(name);
        return entry == null ? Set.of() : entry.backend.requestParameters();
    }

    /** The fields of configurations that that engine alone gives a meaning; none for one that is not there. */
    Set<String> configurationFields(String name) {
        Entry entry = entries.get(name);
        return entry == null ? Set.of() : entry.backend.configurationFields();
    }

    private void requireIsolated() {
        for (String name : new TreeSet<>(isolation.backends())) {
            if (!entries.containsKey(name)) {
                throw GatunException.invalidArgument(Setting.ISOLATE + " names backend '" + name
                        + "', which is not part of this server; known: " + known());
            }
        }
    }

    private String known() {
        return entries.isEmpty() ? "none" : String.join(", ", entries.keySet());
    }

    /** The started engine for a model, in processes where the model wants that. Throws with the reason without one. */
    Backend started(String name, ModelConfig config) {
        Entry entry = Optional.ofNullable(entries.get(name)).orElseThrow(() -> unknown(name));
        if (isolation.applies(name, config) && !entry.backend.isolatesItself()) {
            return started(isolated.computeIfAbsent(
                    name, key -> new Entry(isolation.isolation().orElseThrow().isolate(key), entry.options)));
        }
        return started(entry);
    }

    private Backend started(Entry entry) {
        try {
            // Another load may start it, and never return; this one may be ended meanwhile.
            entry.starting.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(
                    ErrorCode.CANCELLED,
                    "the wait for the start of backend '" + entry.backend.name() + "' was interrupted",
                    e);
        }
        try {
            if (entry.failure != null) {
                throw entry.failure;
            }
            if (!entry.started) {
                entry.backend.connect(server);
                entry.backend.start(entry.options);
                entry.started = true;
            }
            return entry.backend;
        } catch (GatunException e) {
            if (!Thread.currentThread().isInterrupted()) {
                entry.failure = e; // One that was interrupted tells nothing of the engine.
            }
            throw e;
        } finally {
            entry.starting.unlock();
        }
    }

    private GatunException unknown(String name) {
        StringBuilder text = new StringBuilder("unable to find backend library for backend '" + name
                + "', try specifying runtime on the model configuration. Known backends: " + known());
        AbsentEngines.instead(name).ifPresent(instead -> text.append("; ").append(instead));
        installed.failures().forEach(failure -> text.append("; ").append(failure));
        return new GatunException(ErrorCode.UNAVAILABLE, text.toString());
    }

    /** The statistics of each engine that is started, in the server or in processes, by name. */
    public List<EngineStatistics> statistics() {
        List<EngineStatistics> statistics = new ArrayList<>();
        entries.forEach((name, entry) -> {
            List<Long> counts = Stream.concat(Stream.of(entry), Stream.ofNullable(isolated.get(name)))
                    .flatMap(engine -> liveValueCount(name, engine).stream())
                    .toList();
            if (!counts.isEmpty()) {
                statistics.add(new EngineStatistics(
                        name, counts.stream().mapToLong(Long::longValue).sum()));
            }
        });
        return statistics;
    }

    /** Empty where the engine is not started, or does not tell. */
    private static Optional<Long> liveValueCount(String name, Entry entry) {
        if (!entry.starting.tryLock()) {
            return Optional.empty(); // It is being started, or ended.
        }
        try {
            return entry.started ? Optional.of(entry.backend.liveValueCount()) : Optional.empty();
        } catch (RuntimeException | LinkageError e) {
            LOG.warn("Backend '{}' does not tell what it holds", name, e);
            return Optional.empty();
        } finally {
            entry.starting.unlock();
        }
    }

    /** Ends the engines that were started; a failure of one does not keep the others from it. */
    @Override
    public void close() {
        List<RuntimeException> failures = new ArrayList<>();
        try {
            closeEngines(failures);
        } finally {
            installed.close();
        }
        if (!failures.isEmpty()) {
            RuntimeException first = failures.removeFirst();
            failures.forEach(first::addSuppressed);
            throw first;
        }
    }

    private void closeEngines(List<RuntimeException> failures) {
        List<Entry> all = new ArrayList<>(isolated.values());
        all.addAll(entries.values());
        for (Entry entry : all) {
            entry.starting.lock();
            try {
                if (entry.started) {
                    entry.started = false;
                    entry.backend.close();
                }
            } catch (RuntimeException e) {
                failures.add(e);
            } catch (LinkageError e) {
                failures.add(new IllegalStateException("backend '" + entry.backend.name() + "' did not end", e));
            } finally {
                entry.starting.unlock();
            }
        }
    }
}
