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
    private static final String UNTYPED = " untyped\n";

    private static final String COUNTER = " counter\n";
    private static final String TYPE = "# TYPE ";

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
        int begin = 0;
        // The help and type lines come first; the values of labels may hold any text.
        while (begin < text.length && text[begin] == '#') {
            int end = begin;
            while (text[end] != '\n') {
                end++;
            }
            String line = new String(text, begin, end + 1 - begin, StandardCharsets.UTF_8);
            if (line.startsWith(TYPE) && line.endsWith(UNTYPED)) {
                line = line.substring(0, line.length() - UNTYPED.length()) + COUNTER;
            }
            target.write(line.getBytes(StandardCharsets.UTF_8));
            begin = end + 1;
        }
        target.write(text, begin, text.length - begin);
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
