// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatistics.RequestStatistics;
import gatun.runtime.Origin;
import gatun.runtime.ResponseStatistics;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/** The counters of a model version since it was loaded. Safe for any thread. */
public final class ModelCounters {
    /** Also of instances that are gone: their counts stay. */
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

    /**
     * Takes back the counters of an instance that is gone. Their values stay; the next instance goes on from them. May
     * be called again.
     */
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

    /**
     * Counts a request that was not answered.
     *
     * @param arrivedNanos reading of {@link System#nanoTime} at its arrival
     */
    public void failed(FailureReason reason, long arrivedNanos) {
        counter(reason).increment();
        failureNanos.add(System.nanoTime() - arrivedNanos);
    }

    /** As {@link gatun.runtime.VersionCounters#activity}. */
    public long activity() {
        long sum = failureNanos.sum(); // no failure takes no time
        for (InstanceCounters instance : instances) {
            sum += instance.inferences();
        }
        return sum;
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
                                sum(InstanceCounters::requestNanos),
                                sum(InstanceCounters::queueNanos),
                                sum(InstanceCounters::inputNanos),
                                sum(InstanceCounters::inferNanos),
                                sum(InstanceCounters::outputNanos)),
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
        Map<Origin, StageLatencies> latencies = new EnumMap<>(Origin.class);
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
