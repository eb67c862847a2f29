// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.List;
import java.util.stream.Collectors;

/** The script that has zsh complete commands, flags and their values, and show what they are for. */
public final class ZshCompletion {
    private ZshCompletion() {}

    /** The script for a program and its commands, of which the first is the program itself. */
    public static String script(List<ShellCommand> commands) {
        List<ShellCommand> others = commands.subList(1, commands.size());
        return """
            #compdef gatun
            # Completion of gatun for zsh. Made by "gatun completion zsh".
            _gatun() {
                local curcontext="$curcontext" state
                _arguments -C \\
            %s        '1:command:->command' \\
                    '*::argument:->argument' && return
                case $state in
                    command)
                        local -a commands
                        commands=(
            %s            )
                        _describe -t commands command commands
                        ;;
                    argument)
                        case $words[1] in
            %s            esac
                        ;;
                esac
            }
            if [ "$funcstack[1]" = _gatun ]; then
                _gatun "$@"
            else
                compdef _gatun gatun
            fi
            """.formatted(
                flags(commands.getFirst(), 8),
                others.stream()
                        .map(command -> " ".repeat(16) + quoted(command.name() + ":" + command.description()) + "\n")
                        .collect(Collectors.joining()),
                others.stream().map(ZshCompletion::command).collect(Collectors.joining()));
    }

    private static String command(ShellCommand command) {
        StringBuilder text = new StringBuilder();
        text.append(" ".repeat(16)).append(command.name()).append(")\n");
        text.append(" ".repeat(20)).append("_arguments \\\n").append(flags(command, 24));
        String argument = command.arguments().isEmpty()
                ? ""
                : quoted("*:argument:" + action(command.arguments().getFirst()));
        text.append(" ".repeat(24))
                .append(argument.isEmpty() ? "&& return" : argument)
                .append('\n');
        return text.append(" ".repeat(20)).append(";;\n").toString();
    }

    private static String flags(ShellCommand command, int indent) {
        StringBuilder text = new StringBuilder();
        for (ShellFlag flag : command.flags()) {
            for (String name : flag.longNames()) {
                text.append(" ".repeat(indent))
                        .append(quoted(specification(flag, name)))
                        .append(" \\\n");
            }
        }
        return text.toString();
    }

    /** May be given several times; its description in brackets; its value behind colons. */
    private static String specification(ShellFlag flag, String name) {
        String head = "*" + name + (flag.takesValue() && name.startsWith("--") ? "=" : "") + "["
                + flag.description().replace("[", "(").replace("]", ")") + "]";
        return switch (flag.value()) {
            case NONE -> head;
            case OPTIONAL -> head + "::" + flag.label().replace(":", "\\:") + ":" + action(flag.values());
            case REQUIRED -> head + ":" + flag.label().replace(":", "\\:") + ":" + action(flag.values());
        };
    }

    private static String action(ShellValues values) {
        return switch (values) {
            case ShellValues.Words known -> "(" + String.join(" ", known.words()) + ")";
            case ShellValues.Files files -> "_files";
            case ShellValues.Text text -> "";
        };
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
