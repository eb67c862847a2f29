// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricSink;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What a source publishes: a line for each family, then one for each of its values. */
public final class MetricLines implements MetricSink {
    private final List<String> lines = new ArrayList<>();
    private String name = "";

    private MetricLines() {}

    /** The present lines of {@code source}. */
    public static List<String> of(MetricSource source) {
        MetricLines sink = new MetricLines();
        source.publish(sink);
        return sink.lines;
    }

    @Override
    public void begin(MetricFamily family) {
        name = family.name();
        lines.add("# " + family.kind().word() + " " + name + ": " + family.help());
    }

    @Override
    public void value(Labels labels, double value) {
        lines.add(name + labels + " " + value);
    }

    @Override
    public void info(Labels labels) {
        lines.add(name + labels);
    }

    @Override
    public void summary(Labels labels, List<Double> quantiles, double[] values, long count, double sum) {
        lines.add(name + labels + " " + quantiles + " " + Arrays.toString(values) + " " + count + " " + sum);
    }

    @Override
    public void histogram(Labels labels, List<Double> bounds, long[] counts, double sum) {
        lines.add(name + labels + " " + bounds + " " + Arrays.toString(counts) + " " + sum);
    }
}
