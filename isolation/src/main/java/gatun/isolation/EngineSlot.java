// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.memory.tensor.GatunException;
import gatun.spi.InstanceSpec;
import gatun.workers.RestartingWorker;
import gatun.workers.WorkerEnd;
import gatun.workers.WorkerMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Processes for a model's instances, one after the other. Thread-safe; opens instances in turn. */
final class EngineSlot {
    private final String name;
    private final long spinNanos;
    private final WorkerMetrics metrics;

    /** What its instances are, by their numbers: each process has them. */
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

        /** The way to an instance that was opened. */
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

    /** Opens one more instance. Returns its number. */
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

    /** What the engine has chosen for the model. */
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
