// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import java.util.Arrays;
import java.util.Collection;
import java.util.function.ToDoubleFunction;

/** The middle one of measured values; the upper one of two. Without state. */
public final class Median {
    private Median() {}

    /** The median of {@code values}, of which there is at least one. */
    public static double of(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** The median of {@code values}, of which there is at least one. */
    public static long of(long[] values) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** The median of a figure of each of {@code measured}, of which there is at least one. */
    public static <T> double of(Collection<T> measured, ToDoubleFunction<T> figure) {
        return of(measured.stream().mapToDouble(figure).toArray());
    }
}
