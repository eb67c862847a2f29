// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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
    private static final byte[] BOUND = ",le=\"".getBytes(StandardCharsets.US_ASCII);

    private static final byte[] LABELS_END = "\"} ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] WHOLE = ".0".getBytes(StandardCharsets.US_ASCII);

    /** As many digits any double has exactly. */
    private static final int EXACT_DIGITS = 15;

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
        // A label of a model's own metric may be named as the bounds are.
        boolean bounded = snapshot instanceof HistogramSnapshot;
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
                writeSample(text, begin, end, bounded);
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

    /** Writes a name, its labels and its value; where it is a bucket, its bound is written as other numbers are. */
    private void writeSample(byte[] text, int begin, int end, boolean bounded) throws IOException {
        int value = end;
        while (text[value - 1] != ' ') {
            value--;
        }
        int boundEnd = value - LABELS_END.length;
        int bound = bounded ? bound(text, begin, boundEnd) : value;
        target.write(text, begin, bound - begin);
        if (bound < value) {
            writeNumber(text, bound, boundEnd);
            target.write(text, boundEnd, value - boundEnd);
        }
        writeNumber(text, value, end);
    }

    /**
     * Where the bound of a bucket begins.
     *
     * @param end the end of the last label's value, if there are labels
     * @return where the sample's value begins, when it is no bucket
     */
    private static int bound(byte[] text, int begin, int end) {
        if (end > begin && isAt(LABELS_END, text, end)) {
            int bound = end;
            while (text[bound - 1] != '"') {
                bound--;
            }
            if (bound - BOUND.length > begin && isAt(BOUND, text, bound - BOUND.length)) {
                return bound;
            }
        }
        return end + LABELS_END.length;
    }

    private static boolean isAt(byte[] part, byte[] text, int begin) {
        return Arrays.equals(text, begin, begin + part.length, part, 0, part.length);
    }

    private void writeNumber(byte[] text, int begin, int end) throws IOException {
        int wholeEnd = end - WHOLE.length;
        if (wholeEnd > begin && wholeEnd - begin <= EXACT_DIGITS && isAt(WHOLE, text, wholeEnd)) {
            // Most numbers: as many digits are never written with an exponent.
            target.write(text, begin, wholeEnd - begin);
            return;
        }
        String number = new String(text, begin, end - begin, StandardCharsets.US_ASCII);
        target.write(plain(number).getBytes(StandardCharsets.US_ASCII));
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
