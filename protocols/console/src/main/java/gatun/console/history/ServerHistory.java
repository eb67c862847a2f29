// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.console.history.TrackedVersion.Durations;
import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * The sums over all versions in each {@link TimeRange}, {@value TimeRange#SERVER_POINTS} points each, kept while time
 * passes: a quantile of twelve seconds cannot be told from the quantiles of each. Guarded by the lock of the
 * {@link Sampler}.
 */
final class ServerHistory {
    private final Map<TimeRange, Steps> steps = new EnumMap<>(TimeRange.class);

    /** The sums of the second that is being looked at. */
    private double requestRate;

    private double failureRate;
    private double busyInstances;
    private final long[] durations = new long[LatencyBuckets.COUNT];
    private boolean anyDuration;

    ServerHistory() {
        for (TimeRange range : TimeRange.values()) {
            steps.put(range, new Steps(range.step(TimeRange.SERVER_POINTS)));
        }
    }

    /** Adds what a version did in the second that is being looked at. */
    void add(double answeredPerSecond, double failedPerSecond, double busy, Durations answered) {
        requestRate += answeredPerSecond;
        failureRate += failedPerSecond;
        busyInstances += busy;
        anyDuration |= answered.addTo(durations);
    }

    /** Ends {@code second}, which took {@code seconds}: what is added from now on is of the next. */
    void end(long second, double seconds) {
        for (Steps each : steps.values()) {
            each.add(second, seconds);
        }
        requestRate = 0;
        failureRate = 0;
        busyInstances = 0;
        if (anyDuration) {
            Arrays.fill(durations, 0);
            anyDuration = false;
        }
    }

    /** The points of {@code range} up to the one that {@code second} lies in. */
    History until(TimeRange range, long second, long endMillis) {
        return Objects.requireNonNull(steps.get(range)).until(second, endMillis);
    }

    /** The last steps of some seconds each. A step that goes on has the numbers of its seconds so far. */
    private final class Steps {
        private final int length;

        /** The step that each place is of: its number is its time divided by its length. */
        private final long[] numbers = new long[TimeRange.SERVER_POINTS];

        private final Map<Series, float[]> values = new EnumMap<>(Series.class);

        // Of the step that goes on.
        private long number;
        private double passed;
        private double requests;
        private double failures;
        private double busy;
        private final long[] answered = new long[LatencyBuckets.COUNT];

        Steps(int length) {
            this.length = length;
            for (Series series : Trends.SHOWN) {
                values.put(series, new float[TimeRange.SERVER_POINTS]);
            }
        }

        void add(long second, double seconds) {
            long step = second / length;
            if (step != number) {
                number = step;
                passed = 0;
                requests = 0;
                failures = 0;
                busy = 0;
                Arrays.fill(answered, 0);
            }
            passed += seconds;
            requests += requestRate * seconds;
            failures += failureRate * seconds;
            busy += busyInstances * seconds;
            if (anyDuration) {
                for (int i = 0; i < answered.length; i++) {
                    answered[i] += durations[i];
                }
            }
            note();
        }

        private void note() {
            int place = (int) (number % TimeRange.SERVER_POINTS);
            numbers[place] = number;
            put(Series.REQUESTS_PER_SECOND, place, requests / passed);
            put(Series.FAILURES_PER_SECOND, place, failures / passed);
            put(Series.BUSY_INSTANCES, place, busy / passed);
            Latencies all = new Latencies(answered, 0);
            boolean any = all.count() > 0;
            put(Series.P50_NANOS, place, any ? all.quantileNanos(0.5) : Double.NaN);
            put(Series.P99_NANOS, place, any ? all.quantileNanos(0.99) : Double.NaN);
        }

        private void put(Series series, int place, double value) {
            values(series)[place] = (float) value;
        }

        private float[] values(Series series) {
            return Objects.requireNonNull(values.get(series));
        }

        History until(long second, long endMillis) {
            History history = new History(endMillis, TimeRange.SERVER_POINTS);
            long first = second / length - TimeRange.SERVER_POINTS + 1;
            for (int i = 0; i < TimeRange.SERVER_POINTS; i++) {
                int place = (int) ((first + i) % TimeRange.SERVER_POINTS);
                if (numbers[place] == first + i) {
                    for (Series series : Trends.SHOWN) {
                        history.set(series, i, values(series)[place]);
                    }
                }
            }
            return history;
        }
    }
}
