// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.memory.tensor.Hold;
import gatun.spi.ModelMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What the metrics page tells of the processes that serve one instance, or all instances of a model, one after the
 * other. Safe for any thread.
 */
final class WorkerMetrics implements AutoCloseable {
    private final ModelMetrics.Metric deaths;
    private final ModelMetrics.Metric resident;
    private final ModelMetrics.Metric processor;
    private final List<Hold> opened = new ArrayList<>();
    private final WorkerWatch watch;
    private final long memoryLimit;
    private double processorSeconds; // guarded by this

    /** What is counted of the processes that end a run: who kills them. */
    @FunctionalInterface
    interface Killer {
        /** Ends the process at once. */
        void kill(String reason);
    }

    /**
     * Metrics that stand on the page until they are closed.
     *
     * @param memoryLimit the most resident memory of a process in bytes; 0 for no limit
     */
    WorkerMetrics(ModelMetrics page, Map<String, String> labels, WorkerWatch watch, long memoryLimit) {
        this.watch = watch;
        this.memoryLimit = memoryLimit;
        deaths = metric(
                page,
                labels,
                "gatun_worker_deaths",
                "Number of times that the process of a model instance has ended by itself",
                ModelMetrics.Kind.COUNTER);
        resident = metric(
                page,
                labels,
                "gatun_worker_resident_bytes",
                "Resident memory of the process of a model instance",
                ModelMetrics.Kind.GAUGE);
        processor = metric(
                page,
                labels,
                "gatun_worker_cpu_seconds",
                "Processor time of the processes of a model instance",
                ModelMetrics.Kind.COUNTER);
    }

    private ModelMetrics.Metric metric(
            ModelMetrics page, Map<String, String> labels, String name, String description, ModelMetrics.Kind kind) {
        ModelMetrics.Family family = page.family(name, description, kind);
        opened.add(family);
        ModelMetrics.Metric metric = family.metric(labels, List.of());
        opened.add(metric);
        return metric;
    }

    /** Notes that a process has ended by itself. */
    void died() {
        deaths.increment(1);
        resident.set(0);
    }

    /** Watches over a process that serves from now on. */
    void runs(long pid, Killer killer) {
        synchronized (this) {
            processorSeconds = 0;
        }
        watch.watch(this, new WorkerWatch.Watched(pid, killer));
    }

    /** Takes note of what a process uses now, and ends it where it uses too much. */
    void look(WorkerWatch.Watched process) {
        OptionalLong bytes = ProcessUse.residentBytes(process.pid());
        bytes.ifPresent(resident::set);
        ProcessUse.processorSeconds(process.pid()).ifPresent(this::used);
        if (memoryLimit > 0 && bytes.orElse(0) > memoryLimit) {
            process.killer()
                    .kill("its resident memory of " + bytes.getAsLong() + " bytes is more than isolation_memory_limit, "
                            + memoryLimit);
        }
    }

    private synchronized void used(double seconds) {
        processor.increment(Math.max(0, seconds - processorSeconds));
        processorSeconds = seconds;
    }

    @Override
    public void close() {
        watch.forget(this);
        opened.reversed().forEach(Hold::close);
    }
}
