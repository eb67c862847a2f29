// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** The last hour of one version. Guarded by the lock of the {@link Sampler}. */
final class VersionHistory {
    /** How many seconds are kept. */
    static final int POINTS = 3600;

    /** One minute more than is shown as a whole. */
    private static final int MOST_MINUTES = POINTS / Minute.SECONDS + 1;

    /** Ascending; only those in which something happened. */
    private final Deque<Minute> minutes = new ArrayDeque<>();

    /** The first second of which anything is known. */
    private long since;

    private final HistoryBudget budget;

    /** The history of a version that is known from {@code since} on. */
    VersionHistory(long since, HistoryBudget budget) {
        this.since = since;
        this.budget = budget;
    }

    /** The minute that {@code second} lies in, which is not before any other; made unless it is there. */
    Minute minute(long second) {
        long number = second / Minute.SECONDS;
        Minute last = minutes.peekLast();
        if (last != null && last.number() == number) {
            return last;
        }
        Minute added = new Minute(number);
        minutes.addLast(added);
        while (minutes.size() > MOST_MINUTES || minutes.getFirst().number() <= number - MOST_MINUTES) {
            minutes.removeFirst();
            budget.returned();
        }
        budget.take(this);
        return added;
    }

    /** Gives up the oldest minute; false when there is none but the present. */
    boolean forgetOldest() {
        if (minutes.size() < 2) {
            return false;
        }
        Minute oldest = minutes.removeFirst();
        since = Math.max(since, (oldest.number() + 1) * Minute.SECONDS);
        budget.returned();
        return true;
    }

    void forget() {
        while (!minutes.isEmpty()) {
            minutes.removeFirst();
            budget.returned();
        }
    }

    /** The number of the oldest minute; the highest number when there is none but the present. */
    long oldest() {
        return minutes.size() < 2 ? Long.MAX_VALUE : minutes.getFirst().number();
    }

    /** The seconds up to and with {@code second}. */
    History until(long second, long endMillis, int points) {
        History history = new History(endMillis, points);
        long from = second - points + 1;
        history.idleFrom((int) Math.min(points, Math.max(0, since - from)));
        for (Minute minute : minutes) {
            history.add(minute, (int) Math.max(Integer.MIN_VALUE, minute.number() * Minute.SECONDS - from));
        }
        return history;
    }

    /** About how many requests ended in the seconds from {@code second} on: those of whole minutes. */
    long requestsSince(long second) {
        long requests = 0;
        for (Minute minute : minutes) {
            if ((minute.number() + 1) * Minute.SECONDS > second) {
                requests += minute.requests();
            }
        }
        return requests;
    }

    /** The points of {@code range} up to the one that {@code second} lies in, as {@link Trends.VersionTrend} tells. */
    History trend(TimeRange range, long second, long endMillis) {
        int points = TimeRange.VERSION_POINTS;
        int step = range.step(points);
        long first = second / step - points + 1;
        History trend = new History(endMillis, points);
        trend.idleFrom((int) Math.min(points, Math.max(0, since / step - first)));
        for (Minute minute : minutes) {
            long start = minute.number() * Minute.SECONDS;
            // A step does not reach over the end of a minute, since sixty is a multiple of each.
            for (int at = 0; at < Minute.SECONDS; at += step) {
                long point = (start + at) / step - first;
                if (point >= 0 && point < points) {
                    int passed = (int) Math.min(step, second - start - at + 1);
                    minute.sumUp(at, at + passed, trend, (int) point);
                }
            }
        }
        return trend;
    }

    /** One minute of seconds of a version that did something in it; NaN where there was no number. */
    static final class Minute {
        static final int SECONDS = 60;

        private final long number;
        private final Map<Series, float[]> values = new EnumMap<>(Series.class);
        private final Map<String, float[][]> byTransport = new TreeMap<>();
        private long requests;

        /** A minute without numbers; its seconds begin at 60 times {@code number}. */
        Minute(long number) {
            this.number = number;
            for (Series series : Series.values()) {
                values.put(series, empty());
            }
        }

        private static float[] empty() {
            float[] empty = new float[SECONDS];
            Arrays.fill(empty, Float.NaN);
            return empty;
        }

        long number() {
            return number;
        }

        /** How many requests ended in it, answered or failed. */
        long requests() {
            return requests;
        }

        void count(long ended) {
            requests += ended;
        }

        /** The seconds of a series; shared. */
        float[] values(Series series) {
            return Objects.requireNonNull(values.get(series));
        }

        /** The rates and medians of a transport; shared. */
        float[][] of(String transport) {
            return byTransport.computeIfAbsent(transport, any -> new float[][] {empty(), empty()});
        }

        Map<String, float[][]> byTransport() {
            return byTransport;
        }

        /** Sums up the seconds from {@code from} until {@code end} in a point of {@code trend}. */
        void sumUp(int from, int end, History trend, int point) {
            double ended = 0;
            double failures = 0;
            double busy = 0;
            double medians = 0;
            double measured = 0;
            float highest = Float.NaN;
            for (int i = from; i < end; i++) {
                double rate = numberOr0(values(Series.REQUESTS_PER_SECOND)[i]);
                ended += rate;
                failures += numberOr0(values(Series.FAILURES_PER_SECOND)[i]);
                busy += numberOr0(values(Series.BUSY_INSTANCES)[i]);
                float median = values(Series.P50_NANOS)[i];
                if (!Float.isNaN(median)) {
                    medians += rate * median;
                    measured += rate;
                    float p99 = values(Series.P99_NANOS)[i];
                    highest = Float.isNaN(highest) ? p99 : Math.max(highest, p99);
                }
            }
            int seconds = end - from;
            trend.set(Series.REQUESTS_PER_SECOND, point, (float) (ended / seconds));
            trend.set(Series.FAILURES_PER_SECOND, point, (float) (failures / seconds));
            trend.set(Series.BUSY_INSTANCES, point, (float) (busy / seconds));
            if (measured > 0) {
                trend.set(Series.P50_NANOS, point, (float) (medians / measured));
                trend.set(Series.P99_NANOS, point, highest);
            }
        }

        private static double numberOr0(float value) {
            return Float.isNaN(value) ? 0 : value;
        }
    }
}
