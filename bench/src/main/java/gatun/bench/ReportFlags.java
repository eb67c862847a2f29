// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags that say where the result is written, besides the table. */
final class ReportFlags {
    @Option(names = "--json", paramLabel = "FILE", description = "Write all that was measured as JSON.")
    Optional<Path> json = Optional.empty();

    @Option(
            names = {"-f", "--csv"},
            paramLabel = "FILE",
            description = "Write a line for each load as comma-separated values.")
    Optional<Path> csv = Optional.empty();

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with the plots and the table.")
    Optional<Path> html = Optional.empty();

    @Option(names = "--svg", paramLabel = "FILE", description = "Write the plot of latencies by percentile.")
    Optional<Path> svg = Optional.empty();
}
