// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.BatchStatistics;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.Origin;
import gatun.runtime.StageLatencies;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** What a version did up to the last second. Guarded by the lock of the {@link Sampler}. */
final class TrackedVersion {
    /** The seconds that quantiles and batches are taken of. */
    private static final int WINDOW = 10;

    private static final int REFUSAL_WINDOW = 30;

    private final VersionHistory history;
    private @Nullable ModelStatistics before;

    /** The latencies up to the last second; null while nobody measures them. */
    private @Nullable Measured measured;

    private final long[] inferences = new long[WINDOW];
    private final long[] executions = new long[WINDOW];
    private final long[] refusals = new long[REFUSAL_WINDOW];
    private double requestRate;
    private double failureRate;
    private double inferenceRate;
    private VersionRates.Load load = VersionRates.Load.NONE;
    private long lastBusy;

    /** When the version went, in seconds; 0 while it is there. */
    private long goneAt;

    /** All latencies so far, and those of the last seconds one by one. */
    private static final class Measured {
        private StageLatencies total = StageLatencies.NONE;
        private Map<String, Latencies> byTransport = Map.of();
        private final Durations[] last = new Durations[WINDOW];

        Measured() {
            Arrays.fill(last, Durations.NONE);
        }
    }

    TrackedVersion(VersionHistory history) {
        this.history = history;
    }

    VersionHistory history() {
        return history;
    }

    /** The second in which something happened last; 0 for never. */
    long lastBusy() {
        return lastBusy;
    }

    boolean isMeasured() {
        return measured != null;
    }

    /** Gives up what it takes to measure latencies. */
    void measureNoMore() {
        measured = null;
    }

    long goneAt() {
        return goneAt;
    }

    void goneAt(long second) {
        goneAt = second;
    }

    /** Whether requests were answered since the last look. */
    boolean hasAnswered(ModelStatistics now) {
        ModelStatistics known = before;
        return known == null ? now.successCount() > 0 : known.successCount() != now.successCount();
    }

    /**
     * Takes in what was counted up to the end of {@code second}.
     *
     * @param seconds how long ago the last look was
     * @param instances tells how many instances there are now
     * @param latencies null where nothing was answered, or nobody measures it
     */
    void take(
            long second,
            double seconds,
            ModelStatistics now,
            IntSupplier instances,
            @Nullable ModelLatencies latencies) {
        ModelStatistics known = before;
        before = now;
        int place = (int) (second % WINDOW);
        boolean anew = known != null && restarted(known, now);
        long answered = now.successCount() - (known == null || anew ? 0 : known.successCount());
        long failed = now.failureCount() - (known == null || anew ? 0 : known.failureCount());
        long items = now.totals().inferenceCount()
                - (known == null || anew ? 0 : known.totals().inferenceCount());
        long runs = now.executionCount() - (known == null || anew ? 0 : known.executionCount());
        long refused = now.totals().failures().rejected()
                - (known == null || anew ? 0 : known.totals().failures().rejected());
        inferences[place] = items;
        executions[place] = runs;
        refusals[(int) (second % REFUSAL_WINDOW)] = refused;
        requestRate = answered / seconds;
        failureRate = failed / seconds;
        inferenceRate = items / seconds;
        double computed = (computeNanos(now) - (known == null || anew ? 0 : computeNanos(known))) / (seconds * 1e9);
        // Runs of more than a second are seen while they run.
        double shortRuns = computed <= runs ? computed : 0;
        ModelStatistics.Occupancy occupancy = now.totals().occupancy();
        load = new VersionRates.Load(
                occupancy.pendingRequestCount(), Math.max(occupancy.busyInstanceCount(), shortRuns));
        Measured own = measured;
        if (own != null) {
            own.last[place] = Durations.NONE;
        }
        if (answered > 0 || failed > 0 || !load.equals(VersionRates.Load.NONE)) {
            lastBusy = second;
            Minute minute = history.minute(second);
            int at = (int) (second % Minute.SECONDS);
            minute.values(Series.REQUESTS_PER_SECOND)[at] = (float) requestRate;
            minute.values(Series.FAILURES_PER_SECOND)[at] = (float) failureRate;
            minute.values(Series.PENDING)[at] = load.pending();
            int count = instances.getAsInt();
            load = new VersionRates.Load(load.pending(), Math.min(load.busyInstances(), Math.max(1, count)));
            minute.values(Series.INSTANCES)[at] = count;
            minute.values(Series.BUSY_INSTANCES)[at] = (float) load.busyInstances();
            if (runs > 0) {
                minute.values(Series.MEAN_BATCH)[at] = (float) items / runs;
            }
            if (latencies != null) {
                measure(minute, second, seconds, latencies, now.successCount() == answered);
            }
        }
    }

    private static long computeNanos(ModelStatistics statistics) {
        long nanos = 0;
        for (BatchStatistics batch : statistics.batches()) {
            nanos += batch.computeInputNanos() + batch.computeInferNanos() + batch.computeOutputNanos();
        }
        return nanos;
    }

    private static boolean restarted(ModelStatistics known, ModelStatistics now) {
        return now.successCount() < known.successCount() || now.failureCount() < known.failureCount();
    }

    /** @param whole whether all that was ever counted is of this second */
    private void measure(Minute minute, long second, double seconds, ModelLatencies latencies, boolean whole) {
        int at = (int) (second % Minute.SECONDS);
        Measured own = measured;
        boolean first = own == null;
        if (own == null) {
            own = new Measured();
            measured = own;
        }
        StageLatencies total = latencies.total();
        Map<String, Latencies> byTransport = byTransport(latencies);
        // What was counted before the first look may be of any time.
        if (!first || whole) {
            Latencies request = total.request().since(own.total.request());
            own.last[(int) (second % WINDOW)] = Durations.of(request);
            put(minute, Series.P50_NANOS, at, request, 0.5);
            put(minute, Series.P99_NANOS, at, request, 0.99);
            put(minute, Series.QUEUE_P50_NANOS, at, total.queue().since(own.total.queue()), 0.5);
            put(minute, Series.INFER_P50_NANOS, at, total.computeInfer().since(own.total.computeInfer()), 0.5);
            for (Map.Entry<String, Latencies> transport : byTransport.entrySet()) {
                Latencies added =
                        transport.getValue().since(own.byTransport.getOrDefault(transport.getKey(), Latencies.NONE));
                float[][] values = minute.of(transport.getKey());
                values[0][at] = (float) (added.count() / seconds);
                values[1][at] = added.count() == 0 ? Float.NaN : added.quantileNanos(0.5);
            }
        }
        own.total = total;
        own.byTransport = byTransport;
    }

    private static Map<String, Latencies> byTransport(ModelLatencies latencies) {
        Map<String, Latencies> byTransport = new TreeMap<>();
        for (Map.Entry<Origin, StageLatencies> origin : latencies.byOrigin().entrySet()) {
            byTransport.merge(origin.getKey().transport(), origin.getValue().request(), Latencies::plus);
        }
        return byTransport;
    }

    private static void put(Minute minute, Series series, int at, Latencies added, double quantile) {
        if (added.count() > 0) {
            minute.values(series)[at] = added.quantileNanos(quantile);
        }
    }

    /** What it did lately. */
    VersionRates rates() {
        long items = Arrays.stream(inferences).sum();
        long runs = Arrays.stream(executions).sum();
        Measured own = measured;
        Latencies latencies = own == null ? Latencies.NONE : Durations.sum(Arrays.asList(own.last));
        boolean any = latencies.count() > 0;
        return new VersionRates(
                requestRate,
                failureRate,
                inferenceRate,
                load,
                any ? OptionalLong.of(latencies.quantileNanos(0.5)) : OptionalLong.empty(),
                any ? OptionalLong.of(latencies.quantileNanos(0.99)) : OptionalLong.empty(),
                runs == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) items / runs),
                Arrays.stream(refusals).sum());
    }
}
