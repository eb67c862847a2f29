// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code examples/digit}: reads pictures over one or all transports and prints a table. */
@Command(
        name = "examples/digit",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Reads the digit in a picture with the model 'digits' of a running server.")
public final class ReadDigit implements Callable<Integer> {
    private static final String ROW = "%-22s  %-20s  %6s  %10s  %12s%n";
    private static final double NANOS_IN_MILLI = 1e6;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec command;

    @Parameters(arity = "1..*", paramLabel = "PICTURE", description = "A PNG that shows one digit.")
    private List<Path> pictures = List.of();

    @Option(
            names = "--transport",
            paramLabel = "http|grpc|shm|cuda|all",
            defaultValue = "all",
            description =
                    "How to reach the server; shm is system shared memory, cuda that of a GPU, which all leaves out."
                            + " Default: ${DEFAULT-VALUE}.")
    private String transport = "all";

    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = "http://localhost:8000",
            description = "The server's HTTP port. Default: ${DEFAULT-VALUE}.")
    private URI http = URI.create("http://localhost:8000");

    @Option(
            names = "--grpc-url",
            paramLabel = "HOST:PORT",
            defaultValue = "localhost:8001",
            description = "The server's gRPC port. Default: ${DEFAULT-VALUE}.")
    private String grpc = "localhost:8001";

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "20",
            description = "Calls after the first, of which the median time is shown. Default: ${DEFAULT-VALUE}.")
    private int repeat = 20;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    @Option(names = "--show", description = "Also draw what the network gets to see.")
    private boolean show;

    private ReadDigit() {}

    /**
     * Runs the command and exits: 0 when every picture was read, 1 when something failed, 2 on a wrong command line.
     */
    public static void main(String[] arguments) {
        System.exit(run(new PrintWriter(System.out, true, UTF_8), new PrintWriter(System.err, true, UTF_8), arguments));
    }

    /** Runs the command and returns its exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return new CommandLine(new ReadDigit())
                .setOut(out)
                .setErr(err)
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    if (!(failure instanceof DigitException)) {
                        throw failure;
                    }
                    line.getErr().println(failure.getMessage());
                    return 1;
                })
                .execute(arguments);
    }

    @Override
    public Integer call() {
        List<DigitTransport> transports;
        try {
            transports = DigitTransport.named(transport);
        } catch (DigitException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
        if (repeat < 1) {
            throw new ParameterException(command.commandLine(), "--repeat is " + repeat + "; it must be at least 1.");
        }
        List<Subject> subjects = pictures.stream()
                .map(file -> new Subject(file.getFileName().toString(), DigitPicture.read(file)))
                .toList();
        PrintWriter out = command.commandLine().getOut();
        if (show) {
            subjects.forEach(subject ->
                    out.printf("%s%n%s%n", subject.name(), subject.picture().drawing()));
        }
        out.printf(ROW, "picture", "transport", "digit", "confidence", "milliseconds");
        Set<String> reasons = new LinkedHashSet<>(); // often one reason for every transport: said once
        for (DigitTransport way : transports) {
            try {
                read(way, subjects, out);
            } catch (DigitException e) {
                out.printf("%-22s  %-20s  %6s%n", "", way.title(), "failed");
                reasons.add(e.getMessage());
            }
        }
        reasons.forEach(command.commandLine().getErr()::println);
        return reasons.isEmpty() ? 0 : 1;
    }

    /** A picture and the name it goes by. */
    private record Subject(String name, DigitPicture picture) {}

    /** Prints one row for each picture. */
    private void read(DigitTransport way, List<Subject> subjects, PrintWriter out) {
        try (DigitClient client = way.open(http, grpc)) {
            for (Subject subject : subjects) {
                Reading reading = Reading.of(client.probabilities(subject.picture()));
                out.printf(
                        Locale.ROOT,
                        ROW,
                        subject.name(),
                        way.title(),
                        reading.digit(),
                        String.format(Locale.ROOT, "%.2f %%", 100 * reading.confidence()),
                        String.format(Locale.ROOT, "%.2f", medianNanos(client, subject.picture()) / NANOS_IN_MILLI));
            }
        }
    }

    private double medianNanos(DigitClient client, DigitPicture picture) {
        long[] nanos = new long[repeat];
        for (int i = 0; i < repeat; i++) {
            long start = System.nanoTime();
            client.probabilities(picture);
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return nanos[repeat / 2];
    }
}
