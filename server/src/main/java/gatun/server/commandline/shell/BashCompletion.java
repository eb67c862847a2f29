// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The script that has bash complete commands, flags and their values. */
public final class BashCompletion {
    private BashCompletion() {}

    /** The script for a program and its commands, of which the first is the program itself. */
    public static String script(List<ShellCommand> commands) {
        // Bash cuts a word at "=" where COMP_WORDBREAKS has that character, as it has by itself; both are understood.
        return """
            # Completion of gatun for bash. Made by "gatun completion bash".
            _gatun() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
                local command= flag= begin= words= files= i
                COMPREPLY=()
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        -* | @*) ;;
                        *)
                            command=${COMP_WORDS[i]}
                            break
                            ;;
                    esac
                done
                if [[ $word == = ]]; then
                    flag=$before word=
                elif [[ $before == = && $COMP_CWORD -ge 2 ]]; then
                    flag=${COMP_WORDS[COMP_CWORD - 2]}
                elif [[ $word == --*=* ]]; then
                    flag=${word%%%%=*} begin=${word%%%%=*}= word=${word#*=}
                elif [[ $before == -* ]]; then
                    case "$command $before" in
                        %s) flag=$before ;;
                    esac
                fi
                if [[ -n $flag ]]; then
                    case "$command $flag" in
            %s        esac
                elif [[ $word == -* ]]; then
                    case $command in
            %s        esac
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
                        compopt -o nospace 2>/dev/null
                    fi
                    return
                else
                    case $command in
            %s        esac
                fi
                if [[ -n $files ]]; then
                    compopt -o filenames 2>/dev/null
                    local IFS=$'\\n'
                    COMPREPLY=($(compgen -f -- "$word"))
                else
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                fi
                if [[ -n $begin ]]; then
                    COMPREPLY=("${COMPREPLY[@]/#/$begin}")
                fi
            }
            complete -F _gatun gatun
            """.formatted(
                        patterns(commands, flag -> flag.value() == ShellFlag.Value.REQUIRED),
                        values(commands),
                        flags(commands),
                        arguments(commands));
    }

    /** The name of a command on the command line; empty for the program itself. */
    private static String typed(ShellCommand command, List<ShellCommand> commands) {
        return command.equals(commands.getFirst()) ? "" : command.name();
    }

    private static String patterns(List<ShellCommand> commands, Predicate<ShellFlag> wanted) {
        String all = commands.stream()
                .flatMap(command -> command.flags().stream()
                        .filter(wanted)
                        .flatMap(flag -> flag.names().stream())
                        .map(name -> '"' + typed(command, commands) + " " + name + '"'))
                .collect(Collectors.joining(" | "));
        return all.isEmpty() ? "''" : all;
    }

    private static String values(List<ShellCommand> commands) {
        StringBuilder cases = new StringBuilder();
        for (ShellCommand command : commands) {
            for (ShellFlag flag : command.flags()) {
                if (!flag.takesValue() || flag.values() instanceof ShellValues.Text) {
                    continue;
                }
                String pattern = flag.names().stream()
                        .map(name -> '"' + typed(command, commands) + " " + name + '"')
                        .collect(Collectors.joining(" | "));
                cases.append(branch(pattern, flag.values()));
            }
        }
        return cases.toString();
    }

    private static String flags(List<ShellCommand> commands) {
        return commands.stream()
                .map(command -> branch(
                        '"' + typed(command, commands) + '"',
                        new ShellValues.Words(command.flags().stream()
                                .flatMap(BashCompletion::typedFlags)
                                .toList())))
                .collect(Collectors.joining());
    }

    private static Stream<String> typedFlags(ShellFlag flag) {
        return flag.longNames().stream()
                .map(name -> flag.value() == ShellFlag.Value.REQUIRED && name.startsWith("--") ? name + "=" : name);
    }

    private static String arguments(List<ShellCommand> commands) {
        StringBuilder cases = new StringBuilder();
        List<String> names = commands.stream().skip(1).map(ShellCommand::name).toList();
        cases.append(branch("\"\"", new ShellValues.Words(names)));
        for (ShellCommand command : commands.subList(1, commands.size())) {
            for (ShellValues argument : command.arguments()) {
                if (!(argument instanceof ShellValues.Text)) {
                    cases.append(branch(command.name(), argument));
                }
            }
        }
        return cases.toString();
    }

    private static String branch(String pattern, ShellValues values) {
        String effect =
                switch (values) {
                    case ShellValues.Words known -> "words=\"" + String.join(" ", known.words()) + '"';
                    case ShellValues.Files files -> "files=yes";
                    case ShellValues.Text text -> ":";
                };
        return " ".repeat(12) + pattern + ") " + effect + " ;;\n";
    }
}
