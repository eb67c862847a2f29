// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.console.history.VersionHistory.Minute;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** Points of one version or of all, the newest last, at one moment. Unknown numbers are not a number. */
public final class History {
    private final long endMillis;
    private final int points;
    private final Map<Series, float[]> series = new EnumMap<>(Series.class);
    private final Map<String, float[][]> byTransport = new TreeMap<>();

    /** Points of which nothing is known yet. {@code endMillis} is the end of the last, in milliseconds since 1970. */
    History(long endMillis, int points) {
        this.endMillis = endMillis;
        this.points = points;
        for (Series one : Series.values()) {
            series.put(one, unknown());
        }
    }

    private float[] unknown() {
        float[] unknown = new float[points];
        Arrays.fill(unknown, Float.NaN);
        return unknown;
    }

    /** Notes that nothing happened from that point on, unless something is {@linkplain #add added}. */
    void idleFrom(int point) {
        Arrays.fill(values(Series.REQUESTS_PER_SECOND), point, points, 0);
        Arrays.fill(values(Series.FAILURES_PER_SECOND), point, points, 0);
    }

    /** Adds the seconds of a minute. {@code at} is the point of the minute's first second; may lie outside. */
    void add(Minute minute, int at) {
        for (Series one : Series.values()) {
            copy(minute.values(one), values(one), at);
        }
        minute.byTransport().forEach((transport, values) -> {
            float[][] whole = byTransport.computeIfAbsent(transport, any -> new float[][] {unknown(), unknown()});
            copy(values[0], whole[0], at);
            copy(values[1], whole[1], at);
        });
    }

    private void copy(float[] seconds, float[] target, int at) {
        for (int i = Math.max(0, -at); i < seconds.length && at + i < points; i++) {
            if (!Float.isNaN(seconds[i])) {
                target[at + i] = seconds[i];
            }
        }
    }

    void set(Series one, int point, float value) {
        values(one)[point] = value;
    }

    /** The end of the last second, in milliseconds since 1970. */
    public long endMillis() {
        return endMillis;
    }

    /** How many points there are, of a second each unless the one who asked says otherwise. */
    public int points() {
        return points;
    }

    /** A number of that point, counted from the oldest. */
    public float value(Series one, int point) {
        return values(one)[point];
    }

    private float[] values(Series one) {
        return Objects.requireNonNull(series.get(one));
    }

    /** The transports by which requests came. */
    public Set<String> transports() {
        return byTransport.keySet();
    }

    /** The answered requests of that second that came by a transport of {@link #transports}. */
    public float rate(String transport, int point) {
        return values(transport)[0][point];
    }

    /** The median of their durations. */
    public float median(String transport, int point) {
        return values(transport)[1][point];
    }

    private float[][] values(String transport) {
        float[][] values = byTransport.get(transport);
        if (values == null) {
            throw new IllegalArgumentException("no request came by " + transport);
        }
        return values;
    }
}
