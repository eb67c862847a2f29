// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.List;

/** The script that has fish complete commands, flags and their values, and show what they are for. */
public final class FishCompletion {
    private FishCompletion() {}

    /** The script for a program and its commands, of which the first is the program itself. */
    public static String script(List<ShellCommand> commands) {
        StringBuilder text = new StringBuilder("# Completion of gatun for fish. Made by \"gatun completion fish\".\n");
        text.append("complete -c gatun -f\n");
        flags(text, commands.getFirst(), "__fish_use_subcommand");
        for (ShellCommand command : commands.subList(1, commands.size())) {
            text.append("complete -c gatun -n __fish_use_subcommand -a ")
                    .append(command.name())
                    .append(" -d ")
                    .append(quoted(command.description()))
                    .append('\n');
            String condition = "'__fish_seen_subcommand_from " + command.name() + "'";
            command.arguments().forEach(argument -> text.append("complete -c gatun -n ")
                    .append(condition)
                    .append(values(argument))
                    .append('\n'));
            flags(text, command, condition);
        }
        return text.toString();
    }

    private static void flags(StringBuilder text, ShellCommand command, String condition) {
        for (ShellFlag flag : command.flags()) {
            text.append("complete -c gatun -n ").append(condition);
            for (String name : flag.names()) {
                text.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
            }
            if (flag.value() == ShellFlag.Value.REQUIRED) {
                text.append(" -r");
            }
            if (flag.takesValue()) {
                text.append(values(flag.values()));
            }
            text.append(" -d ").append(quoted(flag.description())).append('\n');
        }
    }

    private static String values(ShellValues values) {
        return switch (values) {
            case ShellValues.Words known -> " -f -a " + quoted(String.join(" ", known.words()));
            case ShellValues.Files files -> " -F";
            case ShellValues.Text text -> " -f";
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
