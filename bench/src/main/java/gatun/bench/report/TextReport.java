// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.Load;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.StoppingRule;
import gatun.bench.load.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The result as text for a terminal. */
public final class TextReport {
    private static final double MEGA = 1e6;
    private static final double NOTABLE_LAG_NANOS = 1e6;

    private TextReport() {}

    /** All of it. */
    public static String text(Report report) {
        StringBuilder text = new StringBuilder();
        text.append(latencies(report.rows()));
        String server = server(report.rows());
        text.append('\n').append(server);
        text.append('\n').append(client(report.rows()));
        String notes = notes(report);
        if (!notes.isEmpty()) {
            text.append('\n').append(notes);
        }
        return text.toString();
    }

    private static String latencies(List<Row> rows) {
        ReportTable table = new ReportTable(
                1,
                List.of(
                        "transport",
                        load(rows),
                        "infer/s",
                        "avg",
                        "p50",
                        "p90",
                        "p95",
                        "p99",
                        "p99.9",
                        "max",
                        "errors",
                        "MB/s"));
        for (Row row : rows) {
            Window window = row.window();
            table.add(List.of(
                    row.transport(),
                    row.measurement().load().text(),
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
                    Units.digits(window.tensorBytesPerSecond() / MEGA)));
        }
        return table.text();
    }

    private static String load(List<Row> rows) {
        boolean open = rows.stream().anyMatch(row -> row.measurement().load() instanceof Load.RequestRate);
        return open ? "rate" : "conc";
    }

    private static String server(List<Row> rows) {
        ReportTable table = new ReportTable(
                1,
                List.of(
                        "server, per request",
                        load(rows),
                        "queue",
                        "input",
                        "compute",
                        "output",
                        "total",
                        "elsewhere",
                        "batch"));
        boolean some = false;
        for (Row row : rows) {
            if (row.server().isPresent()) {
                some = true;
                table.add(serverCells(row, row.server().get()));
            }
        }
        if (!some) {
            return "The server tells of no statistics: its queue and compute times are left out.\n";
        }
        String left = rows.stream()
                .filter(row -> row.server().isEmpty())
                .map(Row::transport)
                .distinct()
                .collect(Collectors.joining(", "));
        return table.text() + (left.isEmpty() ? "" : "Without statistics of the server: " + left + ".\n");
    }

    private static List<String> serverCells(Row row, ServerCounters counters) {
        double batch = counters.executions() == 0 ? 0 : (double) counters.inferences() / counters.executions();
        return List.of(
                row.transport(),
                row.measurement().load().text(),
                Units.time(counters.perRequest(counters.times().queueNanos())),
                Units.time(counters.perRequest(counters.times().inputNanos())),
                Units.time(counters.perRequest(counters.times().inferNanos())),
                Units.time(counters.perRequest(counters.times().outputNanos())),
                Units.time(counters.perRequest(counters.times().requestNanos())),
                Units.time(row.elsewhereNanos(counters)),
                counters.executions() == 0 ? "-" : Units.digits(batch));
    }

    private static String client(List<Row> rows) {
        ReportTable table = new ReportTable(
                1,
                List.of("client, per request", load(rows), "heap", "heap, all threads", "processor", "sent late by"));
        for (Row row : rows) {
            Window window = row.window();
            table.add(List.of(
                    row.transport(),
                    row.measurement().load().text(),
                    Units.bytes(row.perRequest(window.cost().workerHeapBytes())),
                    Units.bytes(row.perRequest(window.cost().heapBytes())),
                    Units.time(row.perRequest(window.cost().processorNanos())),
                    row.measurement().load() instanceof Load.RequestRate
                            ? "<= " + Units.time(window.longestLagNanos())
                            : "-"));
        }
        return table.text();
    }

    private static String notes(Report report) {
        StringBuilder notes = new StringBuilder();
        alike(notes, report.rows());
        for (Row row : report.rows()) {
            if (row.measurement().overdue() > 0 && row.window().longestLagNanos() > NOTABLE_LAG_NANOS) {
                notes.append(row.text())
                        .append(": at the end ")
                        .append(row.measurement().overdue())
                        .append(" requests were due that could not be sent: the server, or --max-threads, is too"
                                + " small for"
                                + " this rate.\n");
            }
            counts(notes, row, row.measurement().problems().failures(), " failed: ");
            counts(notes, row, row.measurement().problems().wrongResponses(), " answered otherwise than expected: ");
        }
        if (report.responsesChecked() && report.wrong() == 0 && report.failed() == 0) {
            notes.append("All answers were as expected.\n");
        }
        return notes.toString();
    }

    /** Says in a few lines which figures are less reliable than others. */
    private static void alike(StringBuilder notes, List<Row> rows) {
        String unstable = rows.stream()
                .filter(row -> row.measurement().verdict() == StoppingRule.Verdict.UNSTABLE)
                .filter(row -> row.window().answered() > 0)
                .map(row -> row.text() + " (" + row.measurement().windows() + ")")
                .collect(Collectors.joining("; "));
        if (!unstable.isEmpty()) {
            notes.append("Not stable after so many windows, the figures are of the last ")
                    .append(StoppingRule.COMPARED_WINDOWS)
                    .append(" at most: ")
                    .append(unstable)
                    .append(".\n");
        }
        for (Row row : rows) {
            if (row.measurement().verdict() == StoppingRule.Verdict.CONTINUE) {
                notes.append(row.text()).append(": interrupted; the figures are of what was measured until then.\n");
            }
        }
    }

    private static void counts(StringBuilder notes, Row row, Map<String, Long> counts, String what) {
        counts.forEach((text, count) -> notes.append(row.text())
                .append(": ")
                .append(count)
                .append(what)
                .append(text)
                .append('\n'));
    }

    /** Columns as wide as needed, the first ones to the left, others to the right. Not thread-safe. */
    static final class ReportTable {
        private static final String GAP = "  ";

        private final int leftColumns;
        private final List<List<String>> lines = new ArrayList<>();

        ReportTable(int leftColumns, List<String> heads) {
            this.leftColumns = leftColumns;
            lines.add(heads);
        }

        void add(List<String> cells) {
            lines.add(List.copyOf(cells));
        }

        String text() {
            int[] widths = new int[lines.getFirst().size()];
            for (List<String> line : lines) {
                for (int i = 0; i < widths.length; i++) {
                    widths[i] = Math.max(widths[i], line.get(i).length());
                }
            }
            StringBuilder text = new StringBuilder();
            for (List<String> line : lines) {
                StringBuilder row = new StringBuilder();
                for (int i = 0; i < widths.length; i++) {
                    String blanks = " ".repeat(widths[i] - line.get(i).length());
                    row.append(i == 0 ? "" : GAP);
                    row.append(i < leftColumns ? line.get(i) + blanks : blanks + line.get(i));
                }
                text.append(row.toString().stripTrailing()).append('\n');
            }
            return text.toString();
        }
    }
}
