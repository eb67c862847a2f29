// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.protocol.Endpoint;
import gatun.runtime.ModelStatus;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** The report on standard output for the operator: the table of models, then the URLs. Everything else is logged. */
final class StartReport {
    private final PrintStream out;
    private final StartTable table;
    private final boolean shown;

    private StartReport(PrintStream out, StartTable table, boolean shown) {
        this.out = out;
        this.table = table;
        this.shown = shown;
    }

    /** Standard output; lines are drawn where it is a terminal that can show them. */
    static StartReport standard() {
        return new StartReport(System.out, StartTable.standard(), true);
    }

    static StartReport none() {
        return new StartReport(
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
                StartTable.ascii(),
                false);
    }

    /** Shows the models that were loaded and those that were not. */
    void models(List<ModelStatus> models) {
        out.print(models.isEmpty() ? "No models.\n" : table.render(models));
        out.flush();
    }

    /** Why these models cannot be served; refers to the table if {@link #models} has printed it. */
    String reasons(List<ModelStatus> failed) {
        if (shown) {
            return "; the reasons stand beneath the table.";
        }
        return failed.stream().map(StartReport::reason).collect(Collectors.joining("; ", ": ", "."));
    }

    private static String reason(ModelStatus model) {
        String version = model.version().isEmpty() ? "" : " version " + model.version();
        return "model '" + model.name() + "'" + version + ": " + model.reason();
    }

    void ready(List<Endpoint> endpoints, Duration startTime) {
        for (Endpoint endpoint : endpoints) {
            String everywhere = endpoint.open() ? "  (on every address)" : "";
            out.printf("%-8s %s%s%n", endpoint.kind().title(), endpoint.url(), everywhere);
        }
        out.printf("Ready in %d ms. Ctrl-C stops the server.%n", startTime.toMillis());
        out.flush();
    }
}
