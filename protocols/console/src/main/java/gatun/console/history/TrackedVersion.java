// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.console.history.VersionHistory.Minute;
import gatun.console.history.VersionRates.VersionKey;
import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.Origin;
import gatun.runtime.VersionCounters;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a version did up to the last second. Guarded by the lock of the {@link Sampler}. */
final class TrackedVersion {
    /** The seconds that quantiles and batches are taken of. */
    private static final int WINDOW = 10;

    private static final int REFUSAL_WINDOW = 30;

    private final VersionKey key;
    private final VersionHistory history;

    /** The version's counters; others after it was loaded anew. Null before the first look. */
    private @Nullable VersionCounters counters;

    private long activity;
    private long seenAt;

    private @Nullable ModelStatistics before;

    /** The latencies up to the last second; null while nobody measures them. */
    private @Nullable Measured measured;

    /** What was counted in the last seconds; null as long as nothing ever was. */
    private @Nullable LastSeconds last;

    /** The second that the next four fields are of; older values are over. */
    private long takenAt;

    private double requestRate;
    private double failureRate;
    private double inferenceRate;
    private VersionRates.Load load = VersionRates.Load.NONE;
    private long lastBusy;

    /** When the version went, in seconds; meaningless while it is there. */
    private long goneAt;

    /** Counts by second. A second in which nothing was added keeps the number of an earlier one. */
    private static final class LastSeconds {
        private final long[] second = new long[REFUSAL_WINDOW];
        private final long[] inferences = new long[REFUSAL_WINDOW];
        private final long[] executions = new long[REFUSAL_WINDOW];
        private final long[] refusals = new long[REFUSAL_WINDOW];

        void put(long at, long items, long runs, long refused) {
            int place = (int) (at % REFUSAL_WINDOW);
            second[place] = at;
            inferences[place] = items;
            executions[place] = runs;
            refusals[place] = refused;
        }

        boolean has(long at) {
            return second[(int) (at % REFUSAL_WINDOW)] == at;
        }

        /** The sum of one of the arrays over the {@code length} seconds up to and with {@code end}. */
        long sum(long[] counts, long end, int length) {
            long sum = 0;
            for (long at = end - length + 1; at <= end; at++) {
                sum += has(at) ? counts[(int) (at % REFUSAL_WINDOW)] : 0;
            }
            return sum;
        }
    }

    /** All latencies so far, and those of the last seconds one by one. */
    private static final class Measured {
        private StageLatencies total = StageLatencies.NONE;
        private Map<String, Latencies> byTransport = Map.of();
        private final Durations[] last = new Durations[WINDOW];

        Measured() {
            Arrays.fill(last, Durations.NONE);
        }
    }

    TrackedVersion(VersionKey key, VersionHistory history) {
        this.key = key;
        this.history = history;
    }

    VersionKey key() {
        return key;
    }

    /** Looks at {@code anew} from now on, all of whose counts are new. */
    void countWith(VersionCounters anew) {
        counters = anew;
        activity = 0;
        before = null;
    }

    @SuppressWarnings("ReferenceEquality") // one that was loaded anew counts with another object
    boolean countsWith(VersionCounters other) {
        return counters == other;
    }

    /** The second of the last look. */
    long seenAt() {
        return seenAt;
    }

    void seenAt(long second) {
        seenAt = second;
    }

    /** Whether anything happened since the last look, or happens now. */
    boolean hasMoved(VersionCounters now) {
        long last = activity;
        activity = now.activity();
        return activity != last || now.isBusy();
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

    void measureNoMore() {
        measured = null;
    }

    long goneAt() {
        return goneAt;
    }

    /** Notes that the version is gone since {@code second}, and drops its counters. */
    void leave(long second) {
        goneAt = second;
        counters = null;
    }

    /** Whether requests were answered since the last look. */
    boolean hasAnswered(ModelStatistics now) {
        ModelStatistics known = before;
        return known == null ? now.successCount() > 0 : known.successCount() != now.successCount();
    }

    /** Adds what the version did in {@code second}, the last one that was taken, to the sums over all. */
    void addTo(ServerHistory all, long second) {
        Measured own = measured;
        Durations answered = own == null ? Durations.NONE : own.last[(int) (second % WINDOW)];
        all.add(requestRate, failureRate, load.busyInstances(), answered);
    }

    /** Adds the counts to the end of {@code second}, {@code seconds} after the last; null where nothing is measured. */
    void take(long second, double seconds, ModelStatistics now, @Nullable ModelLatencies latencies) {
        ModelStatistics known = before == null || restarted(before, now) ? null : before;
        before = now;
        takenAt = second;
        int place = (int) (second % WINDOW);
        long answered = now.successCount() - (known == null ? 0 : known.successCount());
        long failed = now.failureCount() - (known == null ? 0 : known.failureCount());
        long items = now.totals().inferenceCount()
                - (known == null ? 0 : known.totals().inferenceCount());
        long runs = now.executionCount() - (known == null ? 0 : known.executionCount());
        long refused = now.totals().failures().rejected()
                - (known == null ? 0 : known.totals().failures().rejected());
        LastSeconds counts = last == null ? new LastSeconds() : last;
        last = counts;
        counts.put(second, items, runs, refused);
        requestRate = answered / seconds;
        failureRate = failed / seconds;
        inferenceRate = items / seconds;
        double computed = (computeNanos(now) - (known == null ? 0 : computeNanos(known))) / (seconds * 1e9);
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
            minute.count(answered + failed);
            int at = (int) (second % Minute.SECONDS);
            minute.values(Series.REQUESTS_PER_SECOND)[at] = (float) requestRate;
            minute.values(Series.FAILURES_PER_SECOND)[at] = (float) failureRate;
            minute.values(Series.PENDING)[at] = load.pending();
            int count = counters == null ? 0 : counters.instanceCount();
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

    /** The rates up to the end of {@code second}, the last one that was looked at. */
    VersionRates rates(long second) {
        LastSeconds counts = last;
        if (counts == null || takenAt <= second - REFUSAL_WINDOW) {
            return VersionRates.IDLE;
        }
        boolean now = takenAt == second;
        long items = counts.sum(counts.inferences, second, WINDOW);
        long runs = counts.sum(counts.executions, second, WINDOW);
        Latencies latencies = lastLatencies(counts, second);
        boolean any = latencies.count() > 0;
        return new VersionRates(
                now ? requestRate : 0,
                now ? failureRate : 0,
                now ? inferenceRate : 0,
                now ? load : VersionRates.Load.NONE,
                any ? OptionalLong.of(latencies.quantileNanos(0.5)) : OptionalLong.empty(),
                any ? OptionalLong.of(latencies.quantileNanos(0.99)) : OptionalLong.empty(),
                runs == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) items / runs),
                counts.sum(counts.refusals, second, REFUSAL_WINDOW));
    }

    private Latencies lastLatencies(LastSeconds counts, long end) {
        Measured own = measured;
        if (own == null) {
            return Latencies.NONE;
        }
        List<Durations> window = new ArrayList<>(WINDOW);
        for (long at = end - WINDOW + 1; at <= end; at++) {
            if (counts.has(at)) {
                window.add(own.last[(int) (at % WINDOW)]);
            }
        }
        return Durations.sum(window);
    }

    /** The durations of a short time, kept in little memory: only the buckets from the first that is used to the last. */
    static final class Durations {
        /** The durations of a time in which nothing happened. */
        static final Durations NONE = new Durations(0, new int[0]);

        private final int first;
        private final int[] counts;

        private Durations(int first, int[] counts) {
            this.first = first;
            this.counts = counts;
        }

        static Durations of(Latencies latencies) {
            if (latencies.count() == 0) {
                return NONE;
            }
            int first = 0;
            while (latencies.count(first) == 0) {
                first++;
            }
            int[] counts = new int[LatencyBuckets.COUNT - first];
            int used = 0;
            for (int i = 0; i < counts.length; i++) {
                counts[i] = (int) Math.min(Integer.MAX_VALUE, latencies.count(first + i));
                used = counts[i] == 0 ? used : i + 1;
            }
            return new Durations(first, Arrays.copyOf(counts, used));
        }

        /** Adds the counts to {@code sums} by {@link LatencyBuckets}; returns whether there were any. */
        boolean addTo(long[] sums) {
            for (int i = 0; i < counts.length; i++) {
                sums[first + i] += counts[i];
            }
            return counts.length > 0;
        }

        static Latencies sum(Iterable<Durations> all) {
            long[] sums = new long[LatencyBuckets.COUNT];
            all.forEach(one -> one.addTo(sums));
            return new Latencies(sums, 0);
        }
    }
}
