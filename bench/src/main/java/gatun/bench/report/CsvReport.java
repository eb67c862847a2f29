// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.Load;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The result as comma-separated values (RFC 4180): times in microseconds, with a decimal point. */
public final class CsvReport {
    private static final double MICRO = 1e3;
    private static final List<String> HEADS = List.of(
            "url",
            "transport",
            "load",
            "value",
            "batch",
            "inferences_per_second",
            "requests_per_second",
            "requests",
            "avg_us",
            "p50_us",
            "p90_us",
            "p95_us",
            "p99_us",
            "p99.9_us",
            "max_us",
            "failed",
            "wrong",
            "overdue",
            "longest_lag_us",
            "tensor_bytes_per_second",
            "stable",
            "server_queue_us",
            "server_input_us",
            "server_compute_us",
            "server_output_us",
            "server_total_us",
            "elsewhere_us",
            "client_heap_bytes_per_request",
            "process_heap_bytes_per_request",
            "process_cpu_us_per_request");

    private CsvReport() {}

    /** A line of names, and one for each row. */
    public static String text(Report report) {
        StringBuilder text = new StringBuilder(String.join(",", HEADS)).append("\r\n");
        for (Row row : report.rows()) {
            text.append(cells(row).stream().map(CsvReport::quoted).collect(Collectors.joining(",")))
                    .append("\r\n");
        }
        return text.toString();
    }

    private static List<String> cells(Row row) {
        Window window = row.window();
        List<String> cells = new ArrayList<>(List.of(
                row.url(),
                row.transport(),
                row.measurement().load() instanceof Load.Concurrency ? "concurrency" : "request_rate",
                Units.plain(row.measurement().load().value()),
                Long.toString(row.batch()),
                Units.plain(row.inferencesPerSecond()),
                Units.plain(window.perSecond()),
                Long.toString(window.answered()),
                micros(window.averageNanos()),
                micros(window.percentileNanos(50)),
                micros(window.percentileNanos(90)),
                micros(window.percentileNanos(95)),
                micros(window.percentileNanos(99)),
                micros(window.percentileNanos(99.9)),
                micros(window.answered() == 0 ? 0 : window.latencies().getMaxValue()),
                Long.toString(row.measurement().problems().failed()),
                Long.toString(row.measurement().problems().wrong()),
                Long.toString(row.measurement().overdue()),
                micros(window.longestLagNanos()),
                Units.plain(window.tensorBytesPerSecond()),
                Boolean.toString(row.isStable())));
        if (row.server().isPresent()) {
            ServerCounters server = row.server().get();
            cells.add(micros(server.perRequest(server.times().queueNanos())));
            cells.add(micros(server.perRequest(server.times().inputNanos())));
            cells.add(micros(server.perRequest(server.times().inferNanos())));
            cells.add(micros(server.perRequest(server.times().outputNanos())));
            cells.add(micros(server.perRequest(server.times().requestNanos())));
            cells.add(micros(row.elsewhereNanos(server)));
        } else {
            cells.addAll(List.of("", "", "", "", "", ""));
        }
        cells.add(Units.plain(row.perRequest(window.cost().workerHeapBytes())));
        cells.add(Units.plain(row.perRequest(window.cost().heapBytes())));
        cells.add(micros(row.perRequest(window.cost().processorNanos())));
        return cells;
    }

    private static String micros(long nanos) {
        return micros((double) nanos);
    }

    private static String micros(double nanos) {
        return Units.plain(nanos / MICRO);
    }

    private static String quoted(String cell) {
        return cell.matches("(?s).*[\",\r\n].*") ? '"' + cell.replace("\"", "\"\"") + '"' : cell;
    }
}
