// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.data.DataException;
import gatun.bench.endpoint.TargetException;
import gatun.bench.report.ProgressLine;
import gatun.bench.report.Report;
import gatun.bench.report.TextReport;
import gatun.client.ClientException;
import gatun.memory.tensor.GatunException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code gatun bench}: puts load on a server and measures its responses. Exits with 0, with 1 when requests failed,
 * responses were wrong or nothing could be measured, and with 2 when it was called wrongly.
 */
@Command(
        name = "bench",
        description = "Puts load on a server of the v2 protocol or TensorFlow Serving, and measures its answers.",
        customSynopsis = "gatun bench -m MODEL [-u URL] [FLAG]...",
        usageHelpWidth = 100,
        sortOptions = false,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n",
        footer = {
            "",
            "Examples:",
            "  gatun bench -m simple --concurrency=1,2,4,8 --html=simple.html",
            "  gatun bench -m simple -u grpc://localhost:8001 --transport=binary,stream,sealed",
            "  gatun bench -m simple --request-rate=100:1000:100 --latency-limit=10ms --percentile=99"
        })
public final class BenchCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "MODEL",
            required = true,
            description = "The model that is asked.")
    String model = "";

    @Option(
            names = {"-x", "--model-version"},
            paramLabel = "VERSION",
            description = "Its version. (the server's choice)")
    String version = "";

    @Mixin
    ConnectionFlags connection = new ConnectionFlags();

    @Mixin
    LoadFlags load = new LoadFlags();

    @Mixin
    DataFlags data = new DataFlags();

    @Mixin
    ReportFlags reports = new ReportFlags();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this text.")
    boolean help;

    private final EmbeddedModels embedded;

    /**
     * The command, for a command line of picocli.
     *
     * @param embedded serves models within this process
     */
    public BenchCommand(EmbeddedModels embedded) {
        this.embedded = embedded;
    }

    @Override
    public Integer call() {
        ProgressLine progress = new ProgressLine(System.err, Terminal.hasErrorStream());
        try (Interruption interruption = Interruption.listen()) {
            Report report = new Bench(this, embedded, progress, interruption).run();
            progress.clear();
            spec.commandLine().getOut().print(TextReport.text(report));
            spec.commandLine().getOut().flush();
            ReportFiles.write(report, reports);
            return report.failed() + report.wrong() == 0 && !report.rows().isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (TargetException
                | DataException
                | ClientException
                | GatunException
                | IllegalStateException
                | UnsupportedOperationException e) {
            progress.clear();
            spec.commandLine().getErr().println("gatun: " + e.getMessage());
            spec.commandLine().getErr().flush();
            return ExitCode.SOFTWARE;
        }
    }

    /** The command line as it was typed, without secrets. */
    String commandLine() {
        StringBuilder text = new StringBuilder("gatun bench");
        boolean secret = false;
        for (String argument : spec.commandLine().getParseResult().originalArgs()) {
            String flag = argument.replaceFirst("=.*", "");
            boolean isSecret = flag.equals("--token") || flag.equals("--header") || flag.startsWith("-H");
            if (secret) {
                text.append(" ...");
            } else if (isSecret) {
                text.append(' ').append(flag.startsWith("-H") ? "-H ..." : flag + "=...");
            } else {
                text.append(' ').append(argument);
            }
            secret = isSecret && argument.equals(flag) && !(flag.startsWith("-H") && flag.length() > 2);
        }
        return text.toString();
    }
}
