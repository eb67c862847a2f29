// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.isolation.frames.Description;
import gatun.isolation.frames.Job;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.SignatureDef;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A version whose instances are in processes: one for each, or one for all. */
final class IsolatedModel implements BackendModel {
    private static final MemoryUse OF_THE_PROCESS =
            MemoryUse.copiedByEngine("the engine is in a process with memory of its own");

    private final IsolatedBackend backend;
    private final ModelConfig config;
    private final Path versionDirectory;
    private final ProcessSettings settings;
    private final Description description;

    /** Held while an instance is opened, so that one follows the other. */
    private final ReentrantLock opening = new ReentrantLock();

    private final List<EngineSlot> slots = new CopyOnWriteArrayList<>();

    /** The process that the version was loaded in, until an instance has it. Guarded by opening. */
    private @Nullable EngineProcess first;

    IsolatedModel(
            IsolatedBackend backend,
            ModelConfig config,
            Path versionDirectory,
            ProcessSettings settings,
            Description description,
            EngineProcess first) {
        this.backend = backend;
        this.config = config;
        this.versionDirectory = versionDirectory;
        this.settings = settings;
        this.description = description;
        this.first = first;
    }

    @Override
    public BackendInstance newInstance(InstanceSpec spec) {
        opening.lock();
        try {
            slots.removeIf(EngineSlot::isClosed);
            boolean hasOne = settings.scope() == ProcessSettings.Scope.MODEL;
            boolean shared = hasOne && !slots.isEmpty();
            EngineSlot slot = shared ? slots.getFirst() : newSlot(spec);
            try {
                int number = slot.open(hasOne ? spec : spec.inOwnProcess());
                return new IsolatedInstance(slot, number, settings.executionLimit());
            } catch (GatunException e) {
                if (!shared) {
                    slots.remove(slot);
                    slot.close();
                }
                throw e;
            }
        } finally {
            opening.unlock();
        }
    }

    private EngineSlot newSlot(InstanceSpec spec) {
        EngineProcess loaded = first;
        first = null;
        String name = settings.scope() == ProcessSettings.Scope.MODEL ? config.getName() : spec.name();
        EngineProcess process = loaded == null ? load() : loaded;
        WorkerMetrics metrics = backend.metrics(config, name, settings);
        try {
            EngineSlot slot = new EngineSlot(name, settings.spinNanos(), process, this::load, metrics);
            slots.add(slot);
            return slot;
        } catch (RuntimeException e) {
            metrics.close();
            throw e;
        }
    }

    private EngineProcess load() {
        return backend.loaded(config, versionDirectory, settings);
    }

    @Override
    public List<EntryPoint> entryPoints() {
        return description.entryPoints();
    }

    @Override
    public Map<String, SignatureDef> signatures() {
        return description.signatures();
    }

    @Override
    public MemoryUse inputMemory(String input) {
        return OF_THE_PROCESS;
    }

    @Override
    public MemoryUse outputMemory(String output) {
        return OF_THE_PROCESS;
    }

    @Override
    public boolean takesRequestsApart() {
        return description.takesRequestsApart();
    }

    @Override
    public Optional<String> failure() {
        Optional<String> reason = Optional.empty();
        for (EngineSlot slot : slots) {
            reason = slot.failure();
            if (reason.isEmpty()) {
                return reason;
            }
        }
        return reason;
    }

    @Override
    public List<String> choices() {
        return slots.stream().findFirst().map(EngineSlot::choices).orElse(List.of());
    }

    @Override
    public void close() {
        opening.lock();
        try {
            EngineProcess unused = first;
            first = null;
            if (unused != null) {
                unused.close();
            }
        } finally {
            opening.unlock();
        }
        slots.forEach(EngineSlot::close);
    }

    /** Runs requests on an instance in a process. */
    static final class IsolatedInstance implements BackendInstance {
        private final EngineSlot slot;
        private final int number;
        private final Duration executionLimit;
        private final AtomicReference<EngineSlot.@Nullable Serving> present = new AtomicReference<>();

        /** @param number of the instance among those of the slot */
        IsolatedInstance(EngineSlot slot, int number, Duration executionLimit) {
            this.slot = slot;
            this.number = number;
            this.executionLimit = executionLimit;
        }

        @Override
        public boolean isBoundToThread() {
            return false;
        }

        @Override
        public void execute(Execution execution) {
            run(Job.EXECUTE, List.of(execution));
        }

        @Override
        public void executeApart(List<? extends Execution> executions) {
            run(Job.EXECUTE_APART, executions);
        }

        @Override
        public void warmUp() {
            run(Job.WARM_UP, List.of());
        }

        @Override
        public void trimMemory() {
            run(Job.TRIM_MEMORY, List.of());
        }

        private void run(Job job, List<? extends Execution> executions) {
            EngineSlot.Serving serving = slot.serving();
            EngineProcess process = serving.process();
            RunLine line = serving.line(number);
            Hold memory = process.memory().use();
            try {
                if (!line.tryUse()) {
                    throw process.death();
                }
                try {
                    present.set(serving);
                    new IsolatedRun(process, line, job, executions).run(executionLimit);
                } finally {
                    present.set(null);
                    line.leave();
                }
            } finally {
                memory.close();
            }
        }

        @Override
        public void stop() {
            EngineSlot.Serving serving = present.get();
            if (serving != null) {
                RunLine line = serving.line(number);
                line.askToStop(true);
                serving.process().stop(line);
            }
        }

        @Override
        public void abort() {
            slot.abort();
        }

        @Override
        public void close() {
            slot.leave();
        }
    }

    /** Processes for a model's instances, one after the other. Thread-safe; opens instances in turn. */
    static final class EngineSlot {
        private final String name;
        private final long spinNanos;
        private final WorkerMetrics metrics;
        private final Map<Integer, InstanceSpec> specs = new ConcurrentSkipListMap<>();
        private final AtomicInteger nextNumber = new AtomicInteger();
        private final RestartingWorker<Serving> worker;

        /** Its instances that are not closed. */
        private final AtomicInteger users = new AtomicInteger();

        private final AtomicBoolean closed = new AtomicBoolean();

        /** A process that serves. {@code lines} are the ways to its instances, by their numbers. */
        record Serving(EngineProcess process, Map<Integer, RunLine> lines) implements RestartingWorker.Worker {
            /** The way to an instance, which is opened where it is not yet. */
            private void open(int number, InstanceSpec spec, long spinNanos) {
                RunLine ignored = lines.computeIfAbsent(number, key -> process.open(spec, spinNanos));
            }

            RunLine line(int number) {
                return Objects.requireNonNull(lines.get(number));
            }

            @Override
            public boolean isRunning() {
                return process.isRunning();
            }

            @Override
            public void kill(String reason) {
                process.kill(reason);
            }

            @Override
            public void close() {
                process.close();
            }
        }

        /** Begins with {@code first}, where the model is loaded. Owns {@code metrics}, which count deaths. */
        EngineSlot(
                String name,
                long spinNanos,
                EngineProcess first,
                Supplier<EngineProcess> loading,
                WorkerMetrics metrics) {
            this.name = name;
            this.spinNanos = spinNanos;
            this.metrics = metrics;
            AtomicReference<@Nullable EngineProcess> next = new AtomicReference<>(first);
            worker = RestartingWorker.start(name, metrics::died, onEnd -> {
                EngineProcess process = next.getAndSet(null);
                return serving(process == null ? loading.get() : process, onEnd);
            });
        }

        private Serving serving(EngineProcess process, Consumer<WorkerEnd> onEnd) {
            process.servesAs(name);
            try {
                Serving serving = new Serving(process, new ConcurrentHashMap<>());
                specs.forEach((number, spec) -> serving.open(number, spec, spinNanos));
                process.onEnd(onEnd);
                metrics.runs(process.pid(), process::kill);
                return serving;
            } catch (GatunException e) {
                process.close();
                throw e;
            }
        }

        /** Opens one more instance, and returns its number. */
        int open(InstanceSpec spec) {
            int number = nextNumber.getAndIncrement();
            // Before it is opened: should the process end now, the next one has it too.
            specs.put(number, spec);
            try {
                worker.worker().open(number, spec, spinNanos);
            } catch (RuntimeException e) {
                specs.remove(number);
                throw e;
            }
            users.incrementAndGet();
            return number;
        }

        /** The process, which runs; throws as {@link RestartingWorker#worker}. */
        Serving serving() {
            return worker.worker();
        }

        /** Why its instances cannot answer at the moment. */
        Optional<String> failure() {
            return worker.failure();
        }

        List<String> choices() {
            List<String> told = new ArrayList<>(List.of("runs in a process of its own"));
            told.addAll(worker.worker().process().choices());
            return told;
        }

        /** Ends the process at once, and starts no other: nobody wants its instances any more. */
        void abort() {
            worker.abort();
        }

        /** Notes that an instance is closed; the last one ends the process. */
        void leave() {
            if (users.decrementAndGet() == 0) {
                close();
            }
        }

        /** Whether its process has been ended, so that it can have no more instances. */
        boolean isClosed() {
            return closed.get();
        }

        /** Ends the process; only the first call does anything. */
        void close() {
            if (closed.compareAndSet(false, true)) {
                worker.close();
                metrics.close();
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
