// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A command as a shell completes it.
 *
 * @param name the command's name
 * @param description one line
 * @param flags its flags, in the order of its help
 * @param arguments what stands without a flag's name may be, of each such argument
 */
public record ShellCommand(String name, String description, List<ShellFlag> flags, List<ShellValues> arguments) {
    private static final String HELP = "help";

    /** The commands of a program, first the program itself. */
    public static List<ShellCommand> ofAll(CommandSpec program) {
        List<String> names = List.copyOf(program.subcommands().keySet());
        return Stream.concat(
                        Stream.of(of(program)),
                        program.subcommands().values().stream()
                                .map(CommandLine::getCommandSpec)
                                // Its argument is the name of a command.
                                .map(command -> command.name().equals(HELP)
                                        ? of(command).with(new ShellValues.Words(names))
                                        : of(command)))
                .toList();
    }

    private static ShellCommand of(CommandSpec command) {
        return new ShellCommand(
                command.name(),
                line(command.usageMessage().description()),
                command.options().stream()
                        .filter(flag -> !flag.hidden())
                        .sorted(Comparator.comparingInt(OptionSpec::order))
                        .map(ShellFlag::of)
                        .toList(),
                command.positionalParameters().stream().map(ShellValues::of).toList());
    }

    private ShellCommand with(ShellValues argument) {
        return new ShellCommand(name, description, flags, List.of(argument));
    }

    /** The first line of a text, as one that a shell shows. */
    static String line(String... text) {
        String whole = text.length == 0 ? "" : text[0].replace("${DEFAULT-VALUE}", "see the manual");
        return whole.replaceAll("\\s+", " ").strip();
    }
}
