// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** One direction of a plot. */
interface Axis {
    String label();

    /** The position of a value, from 0 at the beginning of the axis to 1 at its end. */
    double position(double value);

    /** The marked values, in their order. */
    List<Tick> ticks();

    /** A marked value. */
    record Tick(double value, String text) {}

    /** Writes a value as text. */
    @FunctionalInterface
    interface Text {
        String of(double value);
    }

    /** Percentiles, the rare ones as far apart as the common ones: 90, 99, 99.9 have equal distances. */
    static Axis percentiles(double greatest) {
        List<Tick> ticks = new ArrayList<>();
        for (String text : List.of("0", "50", "90", "99", "99.9", "99.99", "99.999", "99.9999")) {
            double percentile = Double.parseDouble(text);
            if (percentile <= greatest) {
                ticks.add(new Tick(percentile, text + "%"));
            }
        }
        double end = decades(greatest);
        return new FunctionAxis("percentile of requests", ticks, percentile -> decades(percentile) / end);
    }

    /** Equal distances for equal differences, from 0. */
    static Axis linear(String label, double greatest, Text text) {
        double rough = Math.max(greatest, Double.MIN_NORMAL) / 5;
        double power = Math.pow(10, Math.floor(Math.log10(rough)));
        double step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
        int count = (int) Math.ceil(greatest / step);
        List<Tick> ticks = new ArrayList<>();
        for (int i = 0; i <= count; i++) {
            ticks.add(new Tick(i * step, text.of(i * step)));
        }
        double end = Math.max(1, count) * step;
        return new FunctionAxis(label, ticks, value -> value / end);
    }

    /** Equal distances for equal proportions, of values above 0. */
    static Axis logarithmic(String label, double least, double greatest, Text text) {
        List<Double> marks = new ArrayList<>();
        int first = (int) Math.floor(Math.log10(least));
        int last = (int) Math.ceil(Math.log10(greatest));
        for (int power = first; power <= last; power++) {
            for (int factor : new int[] {1, 2, 5}) {
                marks.add(factor * Math.pow(10, power));
            }
        }
        double low = marks.stream()
                .filter(mark -> mark <= least * (1 + 1e-9))
                .max(Double::compare)
                .orElse(least);
        double high = marks.stream()
                .filter(mark -> mark >= greatest)
                .min(Double::compare)
                .orElse(greatest);
        // Of many decades only the powers are marked.
        boolean all = last - first <= 4;
        List<Tick> ticks = marks.stream()
                .filter(mark -> mark >= low && mark <= high && (all || isPowerOfTen(mark)))
                .map(mark -> new Tick(mark, text.of(mark)))
                .toList();
        double range = Math.max(Math.log(high / low), Double.MIN_NORMAL);
        return new FunctionAxis(label, ticks, value -> Math.log(Math.max(value, low) / low) / range);
    }

    private static boolean isPowerOfTen(double mark) {
        double power = Math.log10(mark);
        return Math.abs(power - Math.rint(power)) < 1e-9;
    }

    private static double decades(double percentile) {
        return -Math.log10(1 - percentile / 100);
    }

    /** An axis whose {@code function} maps a value to its position, from 0 to 1. */
    record FunctionAxis(String label, List<Tick> ticks, DoubleUnaryOperator function) implements Axis {
        @Override
        public double position(double value) {
            return function.applyAsDouble(value);
        }
    }
}
