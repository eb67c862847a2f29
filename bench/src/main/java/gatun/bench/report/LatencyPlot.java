// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** Latency by percentile, a line for each load. */
public final class LatencyPlot {
    private static final double LEAST_END = 99;
    private static final long LOGARITHMIC_FROM = 8;
    private static final int STEPS_PER_HALF_DISTANCE = 8;

    private LatencyPlot() {}

    /** The picture. */
    public static String svg(Report report) {
        List<PlotSeries> lines = new ArrayList<>();
        long least = Long.MAX_VALUE;
        long greatest = 0;
        double rarest = LEAST_END;
        boolean sameLoad = report.rows().stream().map(Row::loadText).distinct().count() == 1;
        for (Row row : report.rows()) {
            Histogram latencies = row.window().latencies();
            long count = latencies.getTotalCount();
            if (count == 0) {
                continue;
            }
            // Beyond that a percentile is of less than one request.
            double end = Math.clamp(100.0 * (1 - 1.0 / (double) count), 0, 99.9999);
            lines.add(new PlotSeries(sameLoad ? row.transport() : row.text(), points(latencies, end), false));
            rarest = Math.max(rarest, end);
            least = Math.min(least, latencies.getMinNonZeroValue());
            greatest = Math.max(greatest, latencies.getMaxValue());
        }
        Axis x = Axis.percentiles(rarest);
        Axis y = greatest / LOGARITHMIC_FROM > least
                ? Axis.logarithmic("latency", (double) Math.max(1, least), (double) greatest, Units::roundTime)
                : Axis.linear("latency", (double) greatest, Units::roundTime);
        return new SvgPlot("Latency of model " + report.subject().model() + " by percentile", x, y, lines).svg();
    }

    private static List<PlotSeries.Point> points(Histogram latencies, double end) {
        List<PlotSeries.Point> points = new ArrayList<>();
        points.add(new PlotSeries.Point(0, (double) latencies.getMinValue(), ""));
        for (HistogramIterationValue value : latencies.percentiles(STEPS_PER_HALF_DISTANCE)) {
            double percentile = Math.min(value.getPercentileLevelIteratedTo(), end);
            points.add(new PlotSeries.Point(percentile, (double) value.getValueIteratedTo(), ""));
        }
        return points;
    }
}
