// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatistics.RequestStatistics;
import gatun.runtime.Origin;
import gatun.runtime.ResponseStatistics;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import gatun.runtime.statistics.InstanceCounters.StageHistograms;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** The counters of a model version since it was loaded. Safe for any thread. */
public final class ModelCounters {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;

    private static final List<Measure<ModelStatistics>> COUNTERS = List.of(
            Measure.counter(
                    "nv_inference_request_success",
                    "Number of successful inference requests, all batch sizes",
                    ModelStatistics::successCount),
            Measure.counter(
                    "nv_inference_count",
                    "Number of inferences performed (a request of batch size n counts n)",
                    model -> model.totals().inferenceCount()),
            Measure.counter(
                    "nv_inference_exec_count",
                    "Number of model executions performed",
                    ModelStatistics::executionCount));

    private static final List<Measure<ModelStatistics>> LATENCIES = List.of(
            micros("request", "request handling", ModelStatistics.StageNanos::request),
            micros("queue", "queuing", ModelStatistics.StageNanos::queue),
            micros("compute_input", "compute input", ModelStatistics.StageNanos::computeInput),
            micros("compute_infer", "compute inference", ModelStatistics.StageNanos::computeInfer),
            micros("compute_output", "compute output", ModelStatistics.StageNanos::computeOutput));

    private static final List<Measure<ModelStatistics>> CACHE = List.of(
            Measure.counter(
                    "nv_cache_num_hits_per_model",
                    "Number of requests that the response cache answered",
                    model -> model.cache().hitCount()),
            Measure.counter(
                    "nv_cache_num_misses_per_model",
                    "Number of requests that were not in the response cache",
                    model -> model.cache().missCount()),
            Measure.counter(
                    "nv_cache_hit_duration_per_model",
                    "Cumulative time of response cache hits in microseconds",
                    model -> model.cache().hitNanos() / NANOS_PER_MICRO),
            Measure.counter(
                    "nv_cache_miss_duration_per_model",
                    "Cumulative time of response cache misses in microseconds",
                    model -> model.cache().missNanos() / NANOS_PER_MICRO));

    private static final Measure<Long> FAILED = Measure.counter(
            "nv_inference_request_failure", "Number of failed inference requests, all batch sizes", Long::doubleValue);

    private static final List<Measure<ModelStatistics>> GAUGES = List.of(
            Measure.gauge(
                    "nv_inference_pending_request_count",
                    "Instantaneous number of pending requests awaiting execution",
                    model -> model.totals().pendingRequestCount()),
            Measure.gauge(
                    "nv_model_load_duration_secs",
                    "Time it took to load the model, in seconds",
                    model -> model.totals().loadNanos() / NANOS_PER_SECOND));

    private final List<InstanceCounters> instances = new CopyOnWriteArrayList<>();

    /** Those of {@link #instances} in which nobody counts now; guarded by {@link #lending}. */
    private final Deque<InstanceCounters> free = new ArrayDeque<>();

    private final ReentrantLock lending = new ReentrantLock();

    // Failures come from request threads, of which there are many, and are rare.
    private final Map<FailureReason, LongAdder> failures = new EnumMap<>(FailureReason.class);
    private final LongAdder failureNanos = new LongAdder();

    // The same moment on both clocks. Taken once, so that one execution is always reported with the same end.
    private final long startMillis = Instant.now().toEpochMilli();
    private final long startNanos = System.nanoTime();

    /** Counters of a model version without instances. */
    public ModelCounters() {
        for (FailureReason reason : FailureReason.values()) {
            failures.put(reason, new LongAdder());
        }
    }

    /** The counters for one more instance, until it {@linkplain #giveBack gives them back}. */
    public InstanceCounters lend() {
        lending.lock();
        try {
            InstanceCounters former = free.poll();
            if (former != null) {
                return former;
            }
        } finally {
            lending.unlock();
        }
        InstanceCounters added = new InstanceCounters();
        instances.add(added);
        return added;
    }

    /** Takes back the counters of a closed instance; the next goes on from them. May be called again. */
    public void giveBack(InstanceCounters counters) {
        lending.lock();
        try {
            if (!free.contains(counters)) {
                free.add(counters);
            }
        } finally {
            lending.unlock();
        }
    }

    /** Counts an unanswered request that arrived at {@code arrivedNanos} of {@link System#nanoTime}. */
    public void failed(FailureReason reason, long arrivedNanos) {
        counter(reason).increment();
        failureNanos.add(System.nanoTime() - arrivedNanos);
    }

    /** As {@link gatun.runtime.VersionCounters#activity}. */
    public long activity() {
        return failureNanos.sum() + sum(InstanceCounters::inferences); // no failure takes no time
    }

    /** All counters as they are now. */
    public ModelStatistics snapshot(String name, String version, ModelStatistics.Occupancy occupancy, long loadNanos) {
        return new ModelStatistics(
                name,
                version,
                new ModelStatistics.Totals(
                        sum(InstanceCounters::successes),
                        sum(InstanceCounters::inferences),
                        new ModelStatistics.Failures(
                                failures(FailureReason.REJECTED),
                                failures(FailureReason.CANCELED),
                                failures(FailureReason.BACKEND),
                                failures(FailureReason.OTHER),
                                failureNanos.sum()),
                        new ModelStatistics.StageNanos(
                                nanos(stage -> stage.request),
                                nanos(stage -> stage.queue),
                                nanos(stage -> stage.input),
                                nanos(stage -> stage.infer),
                                nanos(stage -> stage.output)),
                        lastInferenceMillis(),
                        occupancy,
                        loadNanos),
                batches(),
                responses(),
                requests(),
                Optional.empty());
    }

    /** How long the answered requests took, by where they came from. */
    public Map<Origin, StageLatencies> latencies() {
        Map<Origin, StageLatencies> latencies = new HashMap<>();
        for (InstanceCounters instance : instances) {
            instance.addTo(latencies);
        }
        return latencies;
    }

    private List<ResponseStatistics> responses() {
        List<ResponseStatistics> sums = new ArrayList<>();
        for (InstanceCounters instance : instances) {
            List<ResponseStatistics> own = instance.responses().snapshot();
            for (int place = 0; place < own.size(); place++) {
                if (place == sums.size()) {
                    sums.add(ResponseStatistics.NONE);
                }
                sums.set(place, sums.get(place).plus(own.get(place)));
            }
        }
        return sums;
    }

    private long lastInferenceMillis() {
        long latest = 0;
        for (InstanceCounters instance : instances) {
            if (instance.successes() > 0) {
                long sinceStart = TimeUnit.NANOSECONDS.toMillis(instance.lastEndedNanos() - startNanos);
                latest = Math.max(latest, startMillis + sinceStart);
            }
        }
        return latest;
    }

    private List<BatchStatistics> batches() {
        Map<Integer, BatchStatistics> bySize = new TreeMap<>();
        for (InstanceCounters instance : instances) {
            instance.batches().forEach(batch -> bySize.merge(batch.batchSize(), batch, BatchStatistics::plus));
        }
        return List.copyOf(bySize.values());
    }

    private List<RequestStatistics> requests() {
        Map<Integer, RequestStatistics> bySize = new TreeMap<>();
        for (InstanceCounters instance : instances) {
            instance.requests().forEach(size -> bySize.merge(size.batchSize(), size, RequestStatistics::plus));
        }
        return List.copyOf(bySize.values());
    }

    private long nanos(Function<StageHistograms, Histogram> durations) {
        return sum(instance -> instance.nanos(durations));
    }

    private long sum(ToLongFunction<InstanceCounters> counter) {
        long sum = 0;
        for (InstanceCounters instance : instances) {
            sum += counter.applyAsLong(instance);
        }
        return sum;
    }

    private long failures(FailureReason reason) {
        return counter(reason).sum();
    }

    private LongAdder counter(FailureReason reason) {
        return Objects.requireNonNull(failures.get(reason));
    }

    /** Gives {@code sink} the families of {@code models}; {@code latencies} of the same are asked if shown. */
    public static void publish(
            MetricRows<ModelStatistics> models,
            LatencyMetrics shown,
            Supplier<MetricRows<ModelLatencies>> latencies,
            MetricSink sink) {
        sink.addAll(COUNTERS, models);
        if (shown.counters()) {
            sink.addAll(LATENCIES, models);
            sink.addAll(CACHE, models.where(model -> model.cached().isPresent()));
        }
        sink.add(FAILED, failures(models));
        if (shown.summaries() || shown.histograms()) {
            new LatencyFamilies(shown).publish(latencies.get(), sink);
        }
        sink.addAll(GAUGES, models);
    }

    private static Measure<ModelStatistics> micros(
            String stage, String meaning, ToLongFunction<ModelStatistics.StageNanos> nanos) {
        return Measure.counter(
                "nv_inference_" + stage + "_duration_us",
                "Cumulative inference " + meaning + " duration in microseconds",
                model -> nanos.applyAsLong(model.totals().nanos()) / NANOS_PER_MICRO);
    }

    private static MetricRows<Long> failures(MetricRows<ModelStatistics> models) {
        List<MetricRows.Row<Long>> rows = new ArrayList<>();
        for (MetricRows.Row<ModelStatistics> model : models) {
            ModelStatistics.Failures failures = model.subject().totals().failures();
            rows.add(failure(model.labels(), "BACKEND", failures.backend()));
            rows.add(failure(model.labels(), "CANCELED", failures.canceled()));
            rows.add(failure(model.labels(), "OTHER", failures.other()));
            rows.add(failure(model.labels(), "REJECTED", failures.rejected()));
        }
        return MetricRows.of(rows);
    }

    private static MetricRows.Row<Long> failure(Labels model, String reason, long count) {
        return new MetricRows.Row<>(model.with("reason", reason), count);
    }

    /** Why a request was not answered, as the metrics tell failures apart. */
    public enum FailureReason {
        /** The queue refused it or it waited there too long. */
        REJECTED,
        /** The client gave it up. */
        CANCELED,
        /** The engine failed it. */
        BACKEND,
        /** Anything else: mostly a request that is wrong. */
        OTHER
    }
}
