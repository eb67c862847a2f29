// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagErrors.FlagNames;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The page of the documentation that lists all flags, made from their help texts. */
final class FlagReference {
    private FlagReference() {}

    static String markdown(CommandSpec command) {
        StringBuilder page = new StringBuilder("""
                # Flags of `gatun serve`

                Each can be given on the command line, as an environment variable, or in the YAML file that `--config` names; the command line
                is stronger than the environment, and the environment stronger than the file. In the file a flag is a key without its dashes, or
                stands under the beginning of its name: `http-port: 8000`, or `port: 8000` under `http:`. A flag that takes several values has
                a list there, and one on each line of an environment variable. `gatun serve --help` says the same in a terminal.
                """);
        page.append("\n`gatun serve` serves what its arguments name:\n\n");
        command.positionalParameters().forEach(argument -> page.append("`")
                .append(argument.paramLabel())
                .append("`: ")
                .append(String.join(" ", argument.description()))
                .append('\n'));
        for (Map.Entry<String, CommandSpec> group : command.mixins().entrySet()) {
            page.append("\n## ").append(group.getKey()).append("\n\n");
            page.append("| flag | environment | default | |\n|---|---|---|---|\n");
            group.getValue().options().stream()
                    .filter(flag -> !flag.hidden())
                    .sorted(Comparator.comparingInt(OptionSpec::order))
                    .forEach(flag -> page.append(row(flag)));
        }
        return page.toString();
    }

    private static String row(OptionSpec flag) {
        String value = flag.arity().max() == 0 ? "" : "=" + flag.paramLabel();
        String names = Arrays.stream(flag.names())
                .filter(name -> name.startsWith(FlagNames.DASHES))
                .map(name -> "`" + name + value + "`")
                .collect(Collectors.joining(", "));
        String initial = flag.defaultValue() == null ? "" : "`" + flag.defaultValue() + "`";
        String text = String.join(" ", flag.description()).replace("|", "\\|");
        return "| " + names + " | `" + EnvironmentVariables.name(flag) + "` | " + initial + " | " + text + " |\n";
    }
}
