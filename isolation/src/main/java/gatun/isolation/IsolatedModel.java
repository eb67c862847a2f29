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
import gatun.workers.WorkerMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
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

    /** Has one instance opened after the other. */
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

        /** Where the run under way is. */
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
}
