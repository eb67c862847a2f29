// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagErrors.FlagNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Completes flags of which only the beginning was typed, as getopt_long does for Triton: {@code --log-warn=false}. */
final class FlagBeginning {
    private FlagBeginning() {}

    /** Completes abbreviated flags. Throws {@link ParameterException} when several flags begin so. */
    static List<String> complete(CommandSpec command, List<String> arguments) {
        List<String> completed = new ArrayList<>();
        for (String argument : arguments) {
            String typed = FlagNames.ofArgument(argument);
            completed.add(complete(command, typed) + argument.substring(typed.length()));
        }
        return completed;
    }

    private static String complete(CommandSpec command, String typed) {
        Map<String, OptionSpec> flags = command.optionsMap();
        if (typed.length() <= FlagNames.DASHES.length()
                || !typed.startsWith(FlagNames.DASHES)
                || flags.containsKey(typed)) {
            return typed;
        }
        SortedMap<String, OptionSpec> candidates = new TreeMap<>();
        flags.forEach((name, flag) -> {
            if (name.startsWith(typed)) {
                candidates.put(name, flag);
            }
        });
        if (candidates.isEmpty()) {
            return typed;
        }
        if (candidates.values().stream().distinct().count() > 1) {
            throw new ParameterException(
                    command.commandLine(),
                    "option '" + typed + "' is ambiguous; possibilities: "
                            + candidates.keySet().stream().collect(Collectors.joining("' '", "'", "'")));
        }
        return candidates.firstKey();
    }
}
