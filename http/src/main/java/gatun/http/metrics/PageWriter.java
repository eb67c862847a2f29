// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.json.JsonWriter;
import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricSink;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes a page of metrics. Makes no garbage for a line of a counter or gauge whose value is whole. */
final class PageWriter implements MetricSink {
    private static final byte[] BUCKET = bytes("_bucket");
    private static final byte[] COUNT = bytes("_count");
    private static final byte[] SUM = bytes("_sum");
    private static final byte[] PLAIN = {};
    private static final byte[] LABELS_END = bytes("} ");
    private static final String LABEL_BEGIN = "=\"";

    private final TextFormat format;
    private final JsonWriter page;
    private MetricFamily family = MetricFamily.gauge("", "");
    private byte[] name = PLAIN;
    private boolean begun;

    PageWriter(TextFormat format, JsonWriter page) {
        this.format = format;
        this.page = page;
    }

    private static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void begin(MetricFamily next) {
        family = next;
        name = bytes(format.lineName(next));
        begun = false;
    }

    @Override
    public void value(Labels labels, double value) {
        line(PLAIN, labels);
        end(value);
    }

    @Override
    public void info(Labels labels) {
        line(PLAIN, labels);
        end(1L);
    }

    @Override
    public void summary(Labels labels, List<Double> quantiles, double[] values, long count, double sum) {
        for (int i = 0; i < values.length; i++) {
            line(PLAIN, labels, "quantile");
            page.raw(TextFormat.text(quantiles.get(i)));
            endLabel();
            end(values[i]);
        }
        line(COUNT, labels);
        end(count);
        line(SUM, labels);
        end(sum);
    }

    @Override
    public void histogram(Labels labels, List<Double> bounds, long[] counts, double sum) {
        for (int i = 0; i < counts.length; i++) {
            line(BUCKET, labels, "le");
            format.number(page, i < bounds.size() ? bounds.get(i) : Double.POSITIVE_INFINITY);
            endLabel();
            end(counts[i]);
        }
        boolean summed = !Double.isNaN(sum);
        if (summed || format.hasCountWithoutSum()) {
            line(COUNT, labels);
            end(counts[counts.length - 1]);
        }
        if (summed) {
            line(SUM, labels);
            end(sum);
        }
    }

    private void beginLine(byte[] suffix) {
        if (!begun) {
            begun = true;
            format.head(page, family);
        }
        page.raw(name, name.length);
        page.raw(suffix, suffix.length);
    }

    private void line(byte[] suffix, Labels labels) {
        beginLine(suffix);
        byte[] text = labels.text();
        if (text.length == 0) {
            page.raw(' ');
        } else {
            page.raw('{').raw(text, text.length).raw(LABELS_END, LABELS_END.length);
        }
    }

    /** Begins a line with one more label, whose value comes next, and then {@link #endLabel}. */
    private void line(byte[] suffix, Labels labels, String last) {
        beginLine(suffix);
        byte[] text = labels.text();
        page.raw('{').raw(text, text.length);
        if (text.length > 0) {
            page.raw(',');
        }
        page.raw(last).raw(LABEL_BEGIN);
    }

    private void endLabel() {
        page.raw('"').raw(LABELS_END, LABELS_END.length);
    }

    private void end(double value) {
        format.number(page, value);
        page.raw('\n');
    }

    private void end(long count) {
        page.signed(count).raw('\n');
    }

    void end() {
        format.end(page);
    }
}
