// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes a page of metrics a family at a time. For one page, by one thread. */
final class FamilyWriter {
    /** The end of a page in OpenMetrics; the library writes it after each family that is written alone. */
    private static final byte[] END = "# EOF\n".getBytes(StandardCharsets.US_ASCII);

    /**
     * The type that a counter is written with where the type "counter" would change its name; see {@link MetricsPage}.
     */
    private static final String UNTYPED = " untyped";

    private static final String COUNTER = " counter";
    private static final String TYPE = "# TYPE ";

    /** Before the bound of a bucket, which is the last label. */
    private static final String BOUND = ",le=\"";

    private static final String LABELS_END = "\"} ";

    /** Up to here a double has each whole number. */
    private static final double MAX_WHOLE = 1L << 53;

    private final ExpositionFormatWriter format;
    private final OutputStream target;
    private final ByteArrayOutputStream family = new ByteArrayOutputStream(4096);

    /** A page in {@code format}, written to {@code target}, which stays open. */
    FamilyWriter(ExpositionFormatWriter format, OutputStream target) {
        this.format = format;
        this.target = target;
    }

    /** Whether the format knows counters under their own names. */
    boolean typed() {
        return format instanceof OpenMetricsTextFormatWriter;
    }

    /** Writes one family. */
    void add(MetricSnapshot snapshot) throws IOException {
        family.reset();
        format.write(family, new MetricSnapshots(snapshot));
        byte[] text = family.toByteArray();
        if (typed()) {
            target.write(text, 0, text.length - END.length);
            return;
        }
        for (int begin = 0, end; begin < text.length; begin = end + 1) {
            end = begin;
            while (text[end] != '\n') { // the values of labels hold none: it is escaped
                end++;
            }
            if (text[begin] == '#') {
                writeComment(text, begin, end);
            } else {
                writeSample(text, begin, end);
            }
            target.write('\n');
        }
    }

    private void writeComment(byte[] text, int begin, int end) throws IOException {
        String line = new String(text, begin, end - begin, StandardCharsets.UTF_8);
        if (line.startsWith(TYPE) && line.endsWith(UNTYPED)) {
            line = line.substring(0, line.length() - UNTYPED.length()) + COUNTER;
        }
        target.write(line.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes a name, its labels and its value. */
    private void writeSample(byte[] text, int begin, int end) throws IOException {
        int value = end;
        while (text[value - 1] != ' ') {
            value--;
        }
        String head = new String(text, begin, value - begin, StandardCharsets.UTF_8);
        target.write(withPlainBound(head).getBytes(StandardCharsets.UTF_8));
        String number = new String(text, value, end - value, StandardCharsets.US_ASCII);
        target.write(plain(number).getBytes(StandardCharsets.US_ASCII));
    }

    /** The name and the labels of a sample; where it is a bucket, its bound is written as other numbers are. */
    private static String withPlainBound(String head) {
        int from = head.lastIndexOf(BOUND) + BOUND.length();
        int to = head.length() - LABELS_END.length();
        boolean bucket = head.endsWith(LABELS_END)
                && head.startsWith(BOUND, from - BOUND.length())
                && head.lastIndexOf('"', to - 1) == from - 1;
        return bucket ? head.substring(0, from) + plain(head.substring(from, to)) + LABELS_END : head;
    }

    /**
     * A number as Triton writes it: scripts that take its page apart expect whole numbers without a point or an
     * exponent.
     */
    private static String plain(String number) {
        if (!number.endsWith(".0") && number.indexOf('E') < 0) {
            return number;
        }
        double value = Double.parseDouble(number);
        return Math.abs(value) <= MAX_WHOLE && value == Math.rint(value) ? Long.toString((long) value) : number;
    }

    /** Writes some families. */
    void addAll(List<? extends MetricSnapshot> snapshots) throws IOException {
        for (MetricSnapshot snapshot : snapshots) {
            add(snapshot);
        }
    }

    /** Ends the page. */
    void end() throws IOException {
        if (typed()) {
            target.write(END);
        }
    }
}
