// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.Locale;

/** Numbers as people read them: about three digits, and a unit. */
final class Units {
    private static final double THOUSAND = 1e3;
    private static final double MILLION = 1e6;
    private static final double BILLION = 1e9;

    private Units() {}

    /** A time, such as {@code 412µs} or {@code 1.23ms}. */
    static String time(double nanos) {
        if (nanos < THOUSAND) {
            return digits(nanos) + "ns";
        }
        if (nanos < MILLION) {
            return digits(nanos / THOUSAND) + "µs";
        }
        if (nanos < BILLION) {
            return digits(nanos / MILLION) + "ms";
        }
        return digits(nanos / BILLION) + "s";
    }

    /** A time for an axis, which marks round values: without needless zeros. */
    static String roundTime(double nanos) {
        return time(nanos).replaceFirst("\\.0+(?=\\D)", "").replaceFirst("(\\.\\d*?)0+(?=\\D)", "$1");
    }

    /** A time in whole nanoseconds. */
    static String time(long nanos) {
        return time((double) nanos);
    }

    /** A number of bytes, such as {@code 1.5KiB}. */
    static String bytes(double bytes) {
        if (bytes < 1024) {
            return digits(bytes) + "B";
        }
        if (bytes < 1024 * 1024) {
            return digits(bytes / 1024) + "KiB";
        }
        return digits(bytes / (1024 * 1024)) + "MiB";
    }

    /** A number with about three digits: {@code 12345}, {@code 123}, {@code 12.3} or {@code 1.23}. */
    static String digits(double value) {
        double size = Math.abs(value);
        if (size >= 99.95 || size == 0) {
            return String.format(Locale.ROOT, "%.0f", value);
        }
        return String.format(Locale.ROOT, size >= 9.995 ? "%.1f" : "%.2f", value);
    }

    static String plain(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
