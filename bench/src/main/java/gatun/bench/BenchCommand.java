// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.data.DataException;
import gatun.bench.data.DataPlan;
import gatun.bench.data.GeneratedTensors;
import gatun.bench.data.InputShapes;
import gatun.bench.endpoint.TargetException;
import gatun.bench.report.CsvReport;
import gatun.bench.report.HtmlReport;
import gatun.bench.report.JsonReport;
import gatun.bench.report.LatencyPlot;
import gatun.bench.report.ProgressLine;
import gatun.bench.report.Report;
import gatun.bench.report.TextReport;
import gatun.client.ClientException;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.tensor.Shape;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    TargetFlags connection = new TargetFlags();

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
        try (Interruption interruption = Interruption.listen(spec.commandLine().getErr())) {
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
        List<String> typed = spec.commandLine().getParseResult().originalArgs();
        // Those of a subcommand begin with its name.
        for (String argument : typed.subList(spec.parent() == null ? 0 : 1, typed.size())) {
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

    /** Writes the files of a result. */
    static final class ReportFiles {
        private ReportFiles() {}

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

    /** The flags that say where the result is written, besides the table. */
    static final class ReportFlags {
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

    /** The flags that say what is sent, and what is expected back. */
    static final class DataFlags {
        private static final String RANDOM = "random";
        private static final String ZERO = "zero";

        @Option(
                names = "--shape",
                paramLabel = "NAME:DIM,...",
                converter = FlagValue.NamedShape.class,
                description =
                        "The shape of an input that the model leaves open, with a batch's dimension or without. May be"
                                + " given"
                                + " several times.")
        List<Map.Entry<String, Shape>> shapes = new ArrayList<>();

        @Option(
                names = {"-b", "--batch"},
                paramLabel = "N",
                converter = FlagValue.Count.class,
                description = "How many inferences a request has, for models that take batches. (1)")
        int batch = 1;

        @Option(
                names = {"--data", "--input-data"},
                paramLabel = "random|zero|FILE",
                description = "What is sent: made-up data, or a JSON file in the form of perf_analyzer. (random)")
        String data = RANDOM;

        @Option(
                names = "--string-length",
                paramLabel = "N",
                converter = FlagValue.Count.class,
                description = "How long made-up strings are. (128)")
        int stringLength = 128;

        @Option(
                names = "--string-data",
                paramLabel = "TEXT",
                description = "What every string is, instead of a made-up one.")
        Optional<String> stringData = Optional.empty();

        @Option(
                names = "--expect",
                paramLabel = "FILE",
                description =
                        "Compare the answers with the outputs of this JSON file: the member validation_data in the"
                                + " form of perf_analyzer, or outputs by name. (validation_data of --data)")
        Optional<Path> expected = Optional.empty();

        @Option(
                names = "--tolerance",
                paramLabel = "X",
                converter = FlagValue.Tolerance.class,
                description = "By how much, absolutely and in proportion, a number with a fraction may differ from the"
                        + " expected one. (1e-5)")
        double tolerance = 1e-5;

        @Option(
                names = "--sequence-length",
                paramLabel = "N",
                converter = FlagValue.Count.class,
                description =
                        "Send sequences of so many requests, for models that keep state; with a data file each of its"
                                + " lists is a sequence.")
        Optional<Integer> sequenceLength = Optional.empty();

        boolean inSequences() {
            return sequenceLength.isPresent();
        }

        String text() {
            return data.equals(RANDOM) || data.equals(ZERO) ? data : "file " + data;
        }

        /** Where the data comes from. */
        DataPlan plan(long seed) {
            Map<String, Shape> given = new HashMap<>();
            shapes.forEach(shape -> given.put(shape.getKey(), shape.getValue()));
            boolean isFile = !data.equals(RANDOM) && !data.equals(ZERO);
            return new DataPlan(
                    new InputShapes(given, batch),
                    new GeneratedTensors(data.equals(RANDOM), stringData, stringLength, seed),
                    isFile ? Optional.of(Path.of(data)) : Optional.empty(),
                    expected,
                    tolerance,
                    sequenceLength.orElse(1));
        }
    }

    /** Where the process's streams go. */
    static final class Terminal {
        private static final Path ERROR_STREAM = Path.of("/proc/self/fd/2");

        private Terminal() {}

        /** Whether the error stream goes to a terminal, even where the output does not. */
        static boolean hasErrorStream() {
            try {
                String target = Files.readSymbolicLink(ERROR_STREAM).toString();
                return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
            } catch (IOException | UnsupportedOperationException e) {
                // Another system than Linux.
                return Optional.ofNullable(System.console())
                        .filter(Console::isTerminal)
                        .isPresent();
            }
        }
    }
}
