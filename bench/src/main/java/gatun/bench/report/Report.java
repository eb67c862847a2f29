// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The whole result. {@code environment} is by name; {@code percentile} is the latency that decided about stability,
 * empty for the average.
 */
public record Report(
        Subject subject,
        Instant began,
        Map<String, String> environment,
        OptionalDouble percentile,
        boolean responsesChecked,
        List<Row> rows) {
    /** Keeps a copy of the list. */
    public Report {
        rows = List.copyOf(rows);
    }

    /** Requests that failed, of all rows. */
    public long failed() {
        return rows.stream()
                .mapToLong(row -> row.measurement().problems().failed())
                .sum();
    }

    /** Responses that were not as expected, of all rows. */
    public long wrong() {
        return rows.stream()
                .mapToLong(row -> row.measurement().problems().wrong())
                .sum();
    }

    /** The subject of a measurement: an empty {@code version} is the server's choice, {@code data} is in words. */
    public record Subject(String model, String version, String data) {}
}
