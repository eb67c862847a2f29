// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** One minute of seconds of a version that did something in it; NaN where there was no number. */
final class Minute {
    static final int SECONDS = 60;

    private final long number;
    private final Map<Series, float[]> values = new EnumMap<>(Series.class);
    private final Map<String, float[][]> byTransport = new TreeMap<>();

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
}
