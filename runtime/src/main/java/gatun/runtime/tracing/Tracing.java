// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.tracing.TraceScope.TraceReaders;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Chooses which requests are traced, and exports finished traces. Owns its exporter. Thread-safe. */
public final class Tracing implements AutoCloseable {
    /** Bytes of the heap that the tensors of all traces may take; the heap is needed for other things. */
    private static final long TENSOR_BYTES = 32L << 20;

    private final TraceSettings atStart;
    private final TraceExporter exporter;
    private final TraceMemory memory = new TraceMemory(TENSOR_BYTES);
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private TraceOverride global = TraceOverride.NONE;
    private final Map<String, TraceOverride> models = new HashMap<>();
    private Scopes scopes;
    private @Nullable Consumer<RequestTrace> observer;

    /** Who wants traces now; null for nobody. Written under the lock. */
    private volatile @Nullable Wanted wanted;

    /** The scopes that choose among the requests, and who sees all of them, chosen or not. */
    private record Wanted(Scopes scopes, @Nullable Consumer<RequestTrace> observer) {}

    /** The scopes that choose among the requests to each model; immutable. */
    private record Scopes(TraceScope global, Map<String, TraceScope> models) {
        TraceScope of(String model) {
            return models.getOrDefault(model, global);
        }

        boolean enabled() {
            return Stream.concat(Stream.of(global), models.values().stream())
                    .anyMatch(scope -> scope.settings().tellsAnything());
        }
    }

    /** Traces by {@code atStart} until that is changed; closes {@code exporter}, which takes the traces. */
    public Tracing(TraceSettings atStart, TraceExporter exporter) {
        this.atStart = atStart;
        this.exporter = exporter;
        this.scopes = new Scopes(new TraceScope(atStart), Map.of());
        this.wanted = wanted(scopes, null);
    }

    private static @Nullable Wanted wanted(Scopes scopes, @Nullable Consumer<RequestTrace> observer) {
        return observer != null || scopes.enabled() ? new Wanted(scopes, observer) : null;
    }

    /** Traces nothing, and to nowhere. */
    public static Tracing off() {
        return new Tracing(TraceSettings.off(), TraceFile.nowhere());
    }

    /**
     * Begins the trace of a request to a model; empty for one that is not traced. The caller ends it.
     *
     * @param carrier the headers or metadata that came with the request
     * @param traceparent finds in it the header of that name; asked only where clients may have their requests traced
     */
    public <C> Optional<RequestTrace> begin(
            String model, long version, C carrier, Function<C, Optional<String>> traceparent) {
        Wanted present = wanted;
        if (present == null) {
            return Optional.empty();
        }
        TraceScope scope = present.scopes().of(model);
        Optional<TraceParent> joined =
                exporter.joinsClients() && scope.settings().tellsAnything()
                        ? traceparent.apply(carrier).flatMap(TraceParent::parse)
                        : Optional.empty();
        // Counts the request, whoever wants its trace.
        boolean exported = scope.choosesNext() || joined.isPresent();
        if (!exported && present.observer() == null) {
            return Optional.empty();
        }
        TraceReaders readers = new TraceReaders(scope, exported, present.observer());
        return Optional.of(new RequestTrace(this, readers, null, joined, model, version));
    }

    /**
     * Has every request that begins from now on traced, with the times of its stages. What the settings export stays as
     * it is.
     *
     * @param newObserver gets the trace of each client's request as it ends, with its children, on the request's
     *     thread; returns at once and does not throw. It may get some more after {@link #endObserving}
     * @return false, and nothing is done, while there is another observer
     */
    public boolean observe(Consumer<RequestTrace> newObserver) {
        lock.lock();
        try {
            if (observer != null) {
                return false;
            }
            observer = newObserver;
            wanted = wanted(scopes, newObserver);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends what a successful {@link #observe} has begun. */
    public void endObserving() {
        lock.lock();
        try {
            observer = null;
            wanted = wanted(scopes, null);
        } finally {
            lock.unlock();
        }
    }

    /** The settings of a model, or of those without own if empty, by name and order as in protocols. */
    public Map<String, List<String>> settings(String model) {
        TraceSettings settings;
        lock.lock();
        try {
            settings = scopes.of(model).present();
        } finally {
            lock.unlock();
        }
        Map<String, List<String>> told = new LinkedHashMap<>();
        List<String> levels =
                settings.levels().stream().sorted().map(Enum::name).toList();
        told.put("trace_level", levels.isEmpty() ? List.of("OFF") : levels);
        told.put("trace_rate", List.of(Long.toString(settings.rate())));
        told.put("trace_count", List.of(Long.toString(settings.count())));
        if (exporter instanceof TraceFile) {
            told.put("log_frequency", List.of(Long.toString(settings.logFrequency())));
        }
        exporter.settings().forEach((name, value) -> told.put(name, List.of(value)));
        told.put("trace_mode", List.of(exporter.mode()));
        return told;
    }

    /**
     * Changes settings by their names; an empty list takes one back, to that of all models, or that of the start.
     * Counting begins anew.
     *
     * @param model empty for all models without settings of their own
     * @throws GatunException INVALID_ARGUMENT for a value that cannot be read or is not allowed, UNSUPPORTED for a
     *     setting that cannot be changed; nothing is changed then
     */
    public void change(String model, Map<String, List<String>> changes) {
        lock.lock();
        try {
            TraceOverride before = model.isEmpty() ? global : models.getOrDefault(model, TraceOverride.NONE);
            TraceOverride after = before.with(changes);
            require(model.isEmpty() ? after.over(atStart) : after.over(global.over(atStart)));
            if (model.isEmpty()) {
                global = after;
            } else if (after.equals(TraceOverride.NONE)) {
                models.remove(model);
            } else {
                models.put(model, after);
            }
            TraceSettings forAll = global.over(atStart);
            Map<String, TraceScope> own = new HashMap<>();
            models.forEach((name, override) -> own.put(name, new TraceScope(override.over(forAll))));
            scopes = new Scopes(new TraceScope(forAll), Map.copyOf(own));
            wanted = wanted(scopes, observer);
        } finally {
            lock.unlock();
        }
        exporter.flush();
    }

    private void require(TraceSettings settings) {
        if (!settings.tellsAnything()) {
            return;
        }
        boolean never = settings.rate() == 0 && !exporter.joinsClients();
        String reason = never ? "sample rate must be non-zero" : exporter.obstacle();
        if (!reason.isEmpty()) {
            throw GatunException.invalidArgument("Attempting to set invalid trace setting :" + reason);
        }
    }

    long nextId() {
        return ids.incrementAndGet();
    }

    TraceMemory memory() {
        return memory;
    }

    boolean tellsTensors() {
        return exporter.tellsTensors();
    }

    boolean exportsSpans() {
        return exporter.joinsClients();
    }

    void export(RequestTrace trace) {
        exporter.export(trace);
    }

    /** Writes out the traces and closes the exporter. */
    @Override
    public void close() {
        exporter.close();
        memory.close();
    }

    /** The settings that were set for one model, or for all; what is empty was not. */
    record TraceOverride(
            Optional<Set<TraceLevel>> levels, Optional<Long> rate, Optional<Long> count, Optional<Long> logFrequency) {
        static final TraceOverride NONE =
                new TraceOverride(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        private static final long MAX_UNSIGNED = 0xFFFF_FFFFL;

        TraceSettings over(TraceSettings base) {
            return new TraceSettings(
                    levels.orElse(base.levels()),
                    rate.orElse(base.rate()),
                    count.orElse(base.count()),
                    logFrequency.orElse(base.logFrequency()));
        }

        /**
         * These with {@code changes}, where an empty list takes a setting back; unknown names are ignored. Throws
         * INVALID_ARGUMENT for an unreadable value, UNSUPPORTED for a fixed setting.
         */
        TraceOverride with(Map<String, List<String>> changes) {
            if (changes.containsKey("trace_file")) {
                throw new GatunException(
                        ErrorCode.UNSUPPORTED, "trace file location can not be updated through network protocol");
            }
            return new TraceOverride(
                    changed(changes, "trace_level", levels, TraceOverride::levels),
                    changed(changes, "trace_rate", rate, values -> unsigned("trace_rate", values)),
                    changed(changes, "trace_count", count, TraceOverride::count),
                    changed(changes, "log_frequency", logFrequency, values -> unsigned("log_frequency", values)));
        }

        private static <T> Optional<T> changed(
                Map<String, List<String>> changes, String name, Optional<T> before, Function<List<String>, T> reading) {
            List<String> values = changes.get(name);
            if (values == null) {
                return before;
            }
            return values.isEmpty() ? Optional.empty() : Optional.of(reading.apply(values));
        }

        private static Set<TraceLevel> levels(List<String> names) {
            EnumSet<TraceLevel> levels = EnumSet.noneOf(TraceLevel.class);
            for (String name : names) {
                switch (name) {
                    case "TIMESTAMPS" -> levels.add(TraceLevel.TIMESTAMPS);
                    case "TENSORS" -> levels.add(TraceLevel.TENSORS);
                    case "OFF" -> {
                        if (names.size() > 1) {
                            throw GatunException.invalidArgument("Expect only one trace level 'OFF' is specified");
                        }
                    }
                    default -> throw unreadable("trace_level", name);
                }
            }
            return levels;
        }

        private static long unsigned(String name, List<String> values) {
            return number(name, values, 0, MAX_UNSIGNED);
        }

        private static long count(List<String> values) {
            long count = number("trace_count", values, Integer.MIN_VALUE, Integer.MAX_VALUE);
            if (count < TraceSettings.UNLIMITED) {
                throw GatunException.invalidArgument(
                        "Unable to parse 'trace_count'. Expecting value >= -1, got: " + count);
            }
            return count;
        }

        private static long number(String name, List<String> values, long least, long most) {
            if (values.size() != 1) {
                throw GatunException.invalidArgument("expect only 1 value for '" + name + "'");
            }
            String text = values.getFirst();
            long number;
            try {
                number = Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw unreadable(name, text);
            }
            if (number < least || number > most) {
                throw GatunException.invalidArgument("Unable to parse '" + name + "', value is out of range [ " + least
                        + ", " + most + " ], got: " + text);
            }
            return number;
        }

        private static GatunException unreadable(String name, String text) {
            return GatunException.invalidArgument("Unable to parse '" + name + "', got: " + text);
        }
    }
}
