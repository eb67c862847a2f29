// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.memory.tensor.GatunException;
import gatun.spi.InstanceSpec;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A process for one or more instances of a model, and the next one with the same instances when it has ended. Safe for
 * any thread; instances are opened one after the other.
 */
final class EngineSlot {
    private final String name;
    private final long spinNanos;
    private final WorkerMetrics metrics;
    private final List<InstanceSpec> specs = new CopyOnWriteArrayList<>();
    private final RestartingWorker<Serving> worker;
    private int users;

    /**
     * A process that serves.
     *
     * @param lines the ways to its instances, by their numbers
     */
    record Serving(EngineProcess process, List<RunLine> lines) implements RestartingWorker.Worker {
        @Override
        public boolean isRunning() {
            return process.isRunning();
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /**
     * A slot whose first process is {@code first}, where the model is loaded.
     *
     * @param loading starts a process and loads the model there
     * @param metrics counts its deaths; owned by this
     */
    EngineSlot(
            String name, long spinNanos, EngineProcess first, Supplier<EngineProcess> loading, WorkerMetrics metrics) {
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
            List<RunLine> lines = new CopyOnWriteArrayList<>();
            for (InstanceSpec spec : specs) {
                lines.add(process.open(spec, spinNanos));
            }
            process.onEnd(onEnd);
            metrics.runs(process.pid(), process::kill);
            return new Serving(process, lines);
        } catch (GatunException e) {
            process.close();
            throw e;
        }
    }

    /**
     * Opens one more instance.
     *
     * @return its number
     */
    int open(InstanceSpec spec) {
        Serving serving = worker.worker();
        serving.lines().add(serving.process().open(spec, spinNanos));
        specs.add(spec);
        users++;
        return specs.size() - 1;
    }

    /** The process, which runs; throws as {@link RestartingWorker#worker}. */
    Serving serving() {
        return worker.worker();
    }

    /** Why its instances cannot answer at the moment. */
    Optional<String> failure() {
        return worker.failure();
    }

    /** What the engine has chosen for the model. */
    List<String> choices() {
        List<String> told = new ArrayList<>(List.of("runs in a process of its own"));
        told.addAll(worker.worker().process().choices());
        return told;
    }

    /** Notes that an instance is closed; the last one ends the process. */
    synchronized void leave() {
        if (--users == 0) {
            close();
        }
    }

    /** Ends the process. */
    void close() {
        worker.close();
        metrics.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
