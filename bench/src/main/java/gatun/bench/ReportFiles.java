// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.endpoint.TargetException;
import gatun.bench.report.CsvReport;
import gatun.bench.report.HtmlReport;
import gatun.bench.report.JsonReport;
import gatun.bench.report.LatencyPlot;
import gatun.bench.report.Report;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes the files of a result. */
final class ReportFiles {
    private ReportFiles() {}

    /** Writes the files that {@code flags} ask for. */
    static void write(Report report, ReportFlags flags) {
        flags.json.ifPresent(file -> write(file, JsonReport.text(report)));
        flags.csv.ifPresent(file -> write(file, CsvReport.text(report)));
        flags.html.ifPresent(file -> write(file, HtmlReport.text(report)));
        flags.svg.ifPresent(file -> write(file, LatencyPlot.svg(report)));
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new TargetException("cannot write " + file + ": " + IoFailure.reason(e), e);
        }
    }
}
