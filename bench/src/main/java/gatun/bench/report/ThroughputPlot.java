// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Latency by throughput, a line for each transport: how far a server goes, and at what price. */
final class ThroughputPlot {
    private static final double DEFAULT_PERCENTILE = 99;

    private ThroughputPlot() {}

    /** Whether there is any line to draw: a transport with several loads. */
    static boolean isUseful(Report report) {
        return lines(report, OptionalDouble.of(DEFAULT_PERCENTILE)).stream()
                .anyMatch(line -> line.points().size() > 1);
    }

    /** The picture. */
    static String svg(Report report) {
        OptionalDouble percentile =
                report.percentile().isPresent() ? report.percentile() : OptionalDouble.of(DEFAULT_PERCENTILE);
        List<Series> lines = lines(report, percentile);
        double throughput = 0;
        double latency = 0;
        for (Series line : lines) {
            for (Series.Point point : line.points()) {
                throughput = Math.max(throughput, point.x());
                latency = Math.max(latency, point.y());
            }
        }
        String name = "p" + Units.digits(percentile.getAsDouble()).replaceAll("\\.0+$", "");
        return new SvgPlot(
                        "Latency (" + name + ") of model " + report.subject().model() + " by throughput",
                        Axis.linear("inferences per second", throughput, Units::digits),
                        Axis.linear("latency, " + name, latency, Units::roundTime),
                        lines)
                .svg();
    }

    private static List<Series> lines(Report report, OptionalDouble percentile) {
        Map<String, List<Series.Point>> points = new LinkedHashMap<>();
        for (Row row : report.rows()) {
            if (row.window().answered() > 0) {
                double latency = (double) row.window().percentileNanos(percentile.getAsDouble());
                points.computeIfAbsent(row.transport(), none -> new ArrayList<>())
                        .add(new Series.Point(
                                row.inferencesPerSecond(),
                                latency,
                                row.text() + ": " + Units.digits(row.inferencesPerSecond()) + "/s, "
                                        + Units.time(latency)));
            }
        }
        List<Series> lines = new ArrayList<>();
        points.forEach((transport, of) -> lines.add(new Series(transport, of, true)));
        return lines;
    }
}
