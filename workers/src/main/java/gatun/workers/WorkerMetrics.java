// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.tensor.Hold;
import gatun.spi.ModelMetrics;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Metrics of the processes of an instance or a model, one after the other. Thread-safe. */
public final class WorkerMetrics implements AutoCloseable {
    private final Map<WorkerEnd.Reason, ModelMetrics.Metric> deaths = new EnumMap<>(WorkerEnd.Reason.class);
    private final ModelMetrics.Metric restarts;
    private final ModelMetrics.Metric resident;
    private final ModelMetrics.Metric processor;
    private final List<Hold> opened = new ArrayList<>();
    private final WorkerWatch watch;
    private final long memoryLimit;
    private double processorSeconds; // guarded by this
    private boolean hasRun; // guarded by this

    /** Ends processes. */
    @FunctionalInterface
    public interface Killer {
        /** Ends the process at once. */
        void kill(String reason);
    }

    /** Metrics on a page until closed. A process with more resident bytes than the limit is ended; 0 for no limit. */
    public WorkerMetrics(ModelMetrics page, Map<String, String> labels, WorkerWatch watch, long memoryLimit) {
        this.watch = watch;
        this.memoryLimit = memoryLimit;
        for (WorkerEnd.Reason reason : WorkerEnd.Reason.values()) {
            Map<String, String> withReason = new TreeMap<>(labels);
            withReason.put("reason", reason.label());
            deaths.put(
                    reason,
                    metric(
                            page,
                            withReason,
                            "gatun_worker_deaths",
                            "Number of times that the process of a model instance has ended, but at the instance's end",
                            ModelMetrics.Kind.COUNTER));
        }
        restarts = metric(
                page,
                labels,
                "gatun_worker_restarts",
                "Number of times that the process of a model instance was started again",
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

    /** Notes that a process has ended before its time. */
    public void died(WorkerEnd.Reason reason) {
        Objects.requireNonNull(deaths.get(reason)).increment(1);
        resident.set(0);
    }

    /** Watches over a process that serves from now on. */
    public void runs(long pid, Killer killer) {
        synchronized (this) {
            processorSeconds = 0;
            if (hasRun) {
                restarts.increment(1);
            }
            hasRun = true;
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
