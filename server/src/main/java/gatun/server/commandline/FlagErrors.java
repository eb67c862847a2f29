// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says in two lines what is wrong with a command line and where to read on; the exit status is 2. */
final class FlagErrors implements IParameterExceptionHandler {
    private final SettingSources sources;

    /** Names the source of a flag's value in errors about it, from {@code sources}. */
    FlagErrors(SettingSources sources) {
        this.sources = sources;
    }

    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("gatun: " + text(failure, command));
        err.println("See '" + command.getCommandSpec().qualifiedName() + " --help'.");
        err.flush();
        return ExitCode.USAGE;
    }

    private String text(ParameterException failure, CommandLine command) {
        if (failure instanceof UnmatchedArgumentException unmatched) {
            return unmatched(unmatched.getUnmatched().getFirst(), command);
        }
        if (failure instanceof MissingParameterException missing) {
            return missing(missing.getMissing(), failure);
        }
        if (failure.getCause() instanceof TypeConversionException wrong
                && failure.getArgSpec() instanceof OptionSpec flag) {
            return sources.origin(flag).orElse(FlagNames.first(flag)) + ": " + wrong.getMessage() + ".";
        }
        return String.valueOf(failure.getMessage());
    }

    private static String missing(List<ArgSpec> missing, ParameterException failure) {
        boolean wholeFlags = missing.stream().allMatch(a -> a.isOption() && a.required());
        if (!wholeFlags) {
            return String.valueOf(failure.getMessage());
        }
        return missing.stream()
                .map(a -> FlagNames.first((OptionSpec) a) + "=" + a.paramLabel())
                .collect(Collectors.joining(", ", "missing ", ""));
    }

    private static String unmatched(String argument, CommandLine command) {
        if (!argument.startsWith("-")) {
            String wrong = "'" + argument + "' is neither a command nor a flag.";
            if (!command.getSubcommands().isEmpty() && Files.exists(Path.of(argument))) {
                return wrong + " To serve it: gatun serve " + argument;
            }
            return NearestFlag.to(argument, command.getSubcommands().keySet())
                    .map(nearest -> wrong + " Did you mean " + nearest + "?")
                    .orElse(wrong);
        }
        CommandLine serve = command.getSubcommands().get("serve");
        if (serve != null && serve.getCommandSpec().optionsMap().containsKey(FlagNames.ofArgument(argument))) {
            return FlagNames.ofArgument(argument) + " is a flag of 'gatun serve'; write the command before its flags.";
        }
        String unknown = "unknown flag " + FlagNames.ofArgument(argument) + ".";
        List<String> flags = command.getCommandSpec().optionsMap().keySet().stream()
                .filter(flag -> flag.startsWith("--"))
                .toList();
        return NearestFlag.to(argument, flags)
                .map(nearest -> unknown + " Did you mean " + nearest + "?")
                .orElse(unknown);
    }

    static final class FlagNames {
        /** The prefix of a flag's long name. */
        static final String DASHES = "--";

        private FlagNames() {}

        /** The first of a flag's long names, which the help shows. */
        static String first(OptionSpec flag) {
            return Arrays.stream(flag.names())
                    .filter(name -> name.startsWith(DASHES))
                    .findFirst()
                    .orElse(flag.longestName());
        }

        /** The name of the flag in an argument such as {@code --http-port=8000}. */
        static String ofArgument(String argument) {
            int equals = argument.indexOf('=');
            return equals < 0 ? argument : argument.substring(0, equals);
        }
    }
}
