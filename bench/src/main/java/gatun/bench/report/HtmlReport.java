// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.ServerCounters;
import gatun.bench.load.Window;
import gatun.bench.report.SvgPlot.Markup;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** The result as a page that needs no other files. */
public final class HtmlReport {
    private static final double MEGA = 1e6;
    private static final String STYLE = """
        :root{color-scheme:light dark;--ink:#1c2330;--soft:#5b6577;--rule:#dfe4ec;--page:#f5f7fa;--card:#fff;--bad:#b3261e}
        @media(prefers-color-scheme:dark){:root{--ink:#e8ebf1;--soft:#a3adbf;--rule:#2f3848;--page:#0d121a;--card:#141a24;--bad:#ff8a80}}
        body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
        main{max-width:1120px;margin:0 auto;padding:24px 20px 48px}
        h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 8px}p{margin:4px 0;color:var(--soft)}
        .scroll{overflow-x:auto;background:var(--card);border:1px solid var(--rule);border-radius:6px}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{padding:6px 9px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
        th{color:var(--soft);font-weight:600}tr:last-child td{border-bottom:0}
        th:first-child,td:first-child{text-align:left}.bad{color:var(--bad);font-weight:600}
        .plots{display:flex;flex-wrap:wrap;gap:16px}.plots svg{max-width:100%;height:auto;border:1px solid var(--rule);border-radius:6px}
        .facts td{text-align:left;white-space:normal}ul{margin:4px 0;padding-left:20px}
        """;

    private HtmlReport() {}

    /** The page. */
    public static String text(Report report) {
        StringBuilder html = new StringBuilder();
        String version = report.subject().version().isEmpty()
                ? ""
                : ", version " + report.subject().version();
        html.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>gatun bench: ")
                .append(Markup.escape(report.subject().model()))
                .append("</title>\n<style>\n")
                .append(STYLE)
                .append("</style>\n</head>\n<body>\n<main>\n<h1>")
                .append(Markup.escape("Model " + report.subject().model() + version))
                .append("</h1>\n<p>Measured by gatun bench, ")
                .append(Markup.escape(
                        report.began().truncatedTo(ChronoUnit.SECONDS).toString()))
                .append(". Latencies last from when a request was due until all of its answer had come.</p>\n");
        html.append("<h2>Latency and throughput</h2>\n");
        table(html, latencyHeads(), latencies(report));
        html.append("<div class=\"plots\" style=\"margin-top:16px\">\n");
        if (report.rows().stream().anyMatch(row -> row.window().answered() > 0)) {
            html.append(LatencyPlot.svg(report));
        }
        if (ThroughputPlot.isUseful(report)) {
            html.append(ThroughputPlot.svg(report));
        }
        html.append("</div>\n");
        server(html, report);
        html.append("<h2>The client, per request</h2>\n");
        table(html, List.of("transport", "load", "heap", "heap, all threads", "processor"), client(report));
        problems(html, report);
        facts(html, report);
        return html.append("</main>\n</body>\n</html>\n").toString();
    }

    private static List<String> latencyHeads() {
        return List.of(
                "transport",
                "load",
                "infer/s",
                "avg",
                "p50",
                "p90",
                "p95",
                "p99",
                "p99.9",
                "max",
                "errors",
                "MB/s",
                "stable");
    }

    private static List<List<String>> latencies(Report report) {
        List<List<String>> lines = new ArrayList<>();
        for (Row row : report.rows()) {
            Window window = row.window();
            lines.add(List.of(
                    row.transport(),
                    row.loadText(),
                    Units.digits(row.inferencesPerSecond()),
                    Units.time(window.averageNanos()),
                    Units.time(window.percentileNanos(50)),
                    Units.time(window.percentileNanos(90)),
                    Units.time(window.percentileNanos(95)),
                    Units.time(window.percentileNanos(99)),
                    Units.time(window.percentileNanos(99.9)),
                    Units.time(window.answered() == 0 ? 0 : window.latencies().getMaxValue()),
                    Long.toString(row.measurement().problems().failed()
                            + row.measurement().problems().wrong()),
                    Units.digits(window.tensorBytesPerSecond() / MEGA),
                    row.isStable() ? "yes" : "no"));
        }
        return lines;
    }

    private static void server(StringBuilder html, Report report) {
        html.append("<h2>The server, per request</h2>\n");
        List<List<String>> lines = new ArrayList<>();
        for (Row row : report.rows()) {
            if (row.server().isPresent()) {
                ServerCounters counters = row.server().get();
                lines.add(List.of(
                        row.transport(),
                        row.loadText(),
                        Units.time(counters.perRequest(counters.times().queueNanos())),
                        Units.time(counters.perRequest(counters.times().inputNanos())),
                        Units.time(counters.perRequest(counters.times().inferNanos())),
                        Units.time(counters.perRequest(counters.times().outputNanos())),
                        Units.time(counters.perRequest(counters.times().requestNanos())),
                        Units.time(row.elsewhereNanos(counters))));
            }
        }
        if (lines.isEmpty()) {
            html.append("<p>The server tells of no statistics.</p>\n");
            return;
        }
        table(html, List.of("transport", "load", "queue", "input", "compute", "output", "total", "elsewhere"), lines);
        html.append(
                "<p>Elsewhere: what of the client's average the server does not account for, which is the network and"
                        + " both its ends.</p>\n");
    }

    private static List<List<String>> client(Report report) {
        List<List<String>> lines = new ArrayList<>();
        for (Row row : report.rows()) {
            Window window = row.window();
            lines.add(List.of(
                    row.transport(),
                    row.loadText(),
                    Units.bytes(row.perRequest(window.cost().workerHeapBytes())),
                    Units.bytes(row.perRequest(window.cost().heapBytes())),
                    Units.time(row.perRequest(window.cost().processorNanos()))));
        }
        return lines;
    }

    private static void problems(StringBuilder html, Report report) {
        if (report.failed() + report.wrong() == 0) {
            return;
        }
        html.append("<h2 class=\"bad\">Failures</h2>\n<ul>\n");
        for (Row row : report.rows()) {
            problems(html, row, row.measurement().problems().failures(), " failed: ");
            problems(html, row, row.measurement().problems().wrongResponses(), " answered otherwise than expected: ");
        }
        html.append("</ul>\n");
    }

    private static void problems(StringBuilder html, Row row, Map<String, Long> counts, String what) {
        counts.forEach((text, count) -> html.append("<li>")
                .append(Markup.escape(row.text() + ": " + count + what + text))
                .append("</li>\n"));
    }

    private static void facts(StringBuilder html, Report report) {
        html.append("<h2>Where and how</h2>\n<div class=\"scroll\"><table class=\"facts\">\n");
        fact(html, "data", report.subject().data());
        fact(html, "answers compared", report.responsesChecked() ? "yes" : "no");
        report.environment().forEach((name, value) -> fact(html, name, value));
        html.append("</table></div>\n");
    }

    private static void fact(StringBuilder html, String name, String value) {
        html.append(String.format(
                Locale.ROOT,
                "<tr><td>%s</td><td>%s</td></tr>%n",
                Markup.escape(name.replace('_', ' ')),
                Markup.escape(value)));
    }

    private static void table(StringBuilder html, List<String> heads, List<List<String>> lines) {
        html.append("<div class=\"scroll\"><table>\n<tr>");
        heads.forEach(head -> html.append("<th>").append(Markup.escape(head)).append("</th>"));
        html.append("</tr>\n");
        for (List<String> line : lines) {
            html.append("<tr>");
            line.forEach(cell -> html.append("<td>").append(Markup.escape(cell)).append("</td>"));
            html.append("</tr>\n");
        }
        html.append("</table></div>\n");
    }

    /** Latency by throughput, a line for each transport: how far a server goes, and at what price. */
    static final class ThroughputPlot {
        private static final double DEFAULT_PERCENTILE = 99;

        private ThroughputPlot() {}

        /** Whether there is any line to draw: a transport with several loads. */
        static boolean isUseful(Report report) {
            return lines(report, OptionalDouble.of(DEFAULT_PERCENTILE)).stream()
                    .anyMatch(line -> line.points().size() > 1);
        }

        static String svg(Report report) {
            OptionalDouble percentile =
                    report.percentile().isPresent() ? report.percentile() : OptionalDouble.of(DEFAULT_PERCENTILE);
            List<PlotSeries> lines = lines(report, percentile);
            double throughput = 0;
            double latency = 0;
            for (PlotSeries line : lines) {
                for (PlotSeries.Point point : line.points()) {
                    throughput = Math.max(throughput, point.x());
                    latency = Math.max(latency, point.y());
                }
            }
            String name = "p" + Units.digits(percentile.getAsDouble()).replaceAll("\\.0+$", "");
            return new SvgPlot(
                            "Latency (" + name + ") of model "
                                    + report.subject().model() + " by throughput",
                            Axis.linear("inferences per second", throughput, Units::digits),
                            Axis.linear("latency, " + name, latency, Units::roundTime),
                            lines)
                    .svg();
        }

        private static List<PlotSeries> lines(Report report, OptionalDouble percentile) {
            Map<String, List<PlotSeries.Point>> points = new LinkedHashMap<>();
            for (Row row : report.rows()) {
                if (row.window().answered() > 0) {
                    double latency = (double) row.window().percentileNanos(percentile.getAsDouble());
                    points.computeIfAbsent(row.transport(), none -> new ArrayList<>())
                            .add(new PlotSeries.Point(
                                    row.inferencesPerSecond(),
                                    latency,
                                    row.text() + ": " + Units.digits(row.inferencesPerSecond()) + "/s, "
                                            + Units.time(latency)));
                }
            }
            List<PlotSeries> lines = new ArrayList<>();
            points.forEach((transport, of) -> lines.add(new PlotSeries(transport, of, true)));
            return lines;
        }
    }
}
