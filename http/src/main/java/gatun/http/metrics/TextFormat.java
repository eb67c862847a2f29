// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.json.JsonWriter;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import java.nio.charset.StandardCharsets;

/** The text formats of the metrics page: what they write differently. */
enum TextFormat {
    /**
     * Prometheus' text format 0.0.4, with the names that Triton gives its counters. Numbers are as Triton writes them
     * too: scripts that take its page apart expect whole numbers without a point or an exponent.
     */
    PROMETHEUS("text/plain; version=0.0.4; charset=utf-8", "") {
        @Override
        void head(JsonWriter page, MetricFamily family) {
            String name = lineName(family);
            String kind = family.kind() == MetricFamily.Kind.INFO
                    ? MetricFamily.Kind.GAUGE.word()
                    : family.kind().word();
            comment(page, HELP, name, family.help().replace("\\", "\\\\").replace("\n", "\\n"));
            comment(page, TYPE, name, kind);
        }

        @Override
        String lineName(MetricFamily family) {
            return family.kind() == MetricFamily.Kind.INFO ? family.name() + INFO : family.name();
        }

        @Override
        void number(JsonWriter page, double value) {
            if (Math.abs(value) <= MAX_WHOLE && value == (long) value) {
                page.signed((long) value);
            } else {
                page.raw(text(value));
            }
        }

        @Override
        boolean hasCountWithoutSum() {
            return true;
        }
    },

    /** OpenMetrics 1.0.0, in which counters end with {@code _total}. */
    OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8", "# EOF\n") {
        @Override
        void head(JsonWriter page, MetricFamily family) {
            String name = family.kind() == MetricFamily.Kind.COUNTER ? withoutTotal(family.name()) : family.name();
            comment(page, TYPE, name, family.kind().word());
            comment(page, HELP, name, Labels.escaped(family.help()));
        }

        @Override
        String lineName(MetricFamily family) {
            return switch (family.kind()) {
                case COUNTER -> withoutTotal(family.name()) + TOTAL;
                case INFO -> family.name() + INFO;
                case GAUGE, HISTOGRAM, SUMMARY -> family.name();
            };
        }

        @Override
        void number(JsonWriter page, double value) {
            // Below, a double's text has no exponent; and as a long, -0 has no sign.
            if (value > -MIN_EXPONENT && value < MIN_EXPONENT && value == (long) value && 1 / value > 0) {
                page.signed((long) value).raw(WHOLE);
            } else {
                page.raw(text(value));
            }
        }

        @Override
        boolean hasCountWithoutSum() {
            return false;
        }
    };

    private static final String HELP = "# HELP ";
    private static final String TYPE = "# TYPE ";
    private static final String TOTAL = "_total";
    private static final String INFO = "_info";
    private static final String WHOLE = ".0";
    private static final double MAX_WHOLE = 1L << 53;
    private static final double MIN_EXPONENT = 1e7;

    private final String contentType;
    private final String end;

    TextFormat(String contentType, String end) {
        this.contentType = contentType;
        this.end = end;
    }

    /** The format of the page for a request with this {@code Accept} header; empty for a request without one. */
    static TextFormat accepted(String accept) {
        return accept.contains("application/openmetrics-text") ? OPEN_METRICS : PROMETHEUS;
    }

    String contentType() {
        return contentType;
    }

    /** Writes the lines before a family's first value. */
    abstract void head(JsonWriter page, MetricFamily family);

    abstract String lineName(MetricFamily family);

    abstract void number(JsonWriter page, double value);

    /** Whether a histogram whose sum is not a number tells its count. */
    abstract boolean hasCountWithoutSum();

    /** Writes what follows the last family. */
    void end(JsonWriter page) {
        page.raw(end);
    }

    /** A number as it is, which {@link #number} writes otherwise only where the format wants that. */
    static String text(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "+Inf" : "-Inf";
        }
        return Double.toString(value);
    }

    private static void comment(JsonWriter page, String begin, String name, String text) {
        if (!text.isEmpty()) {
            byte[] line = (begin + name + " " + text + "\n").getBytes(StandardCharsets.UTF_8);
            page.raw(line, line.length);
        }
    }

    private static String withoutTotal(String name) {
        return name.endsWith(TOTAL) && name.length() > TOTAL.length()
                ? name.substring(0, name.length() - TOTAL.length())
                : name;
    }
}
