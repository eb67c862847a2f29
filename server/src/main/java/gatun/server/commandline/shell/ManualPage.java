// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The manual page of the program, in the language of man's pages. */
public final class ManualPage {
    private static final String END = """
            .SH FILES OF ARGUMENTS
            An argument
            .BI @ FILE
            stands for the arguments that
            .I FILE
            holds, separated by white space or line ends. # at the beginning of an argument begins a comment, which ends
            with the line. Single quotes keep all between them as it is; a backslash keeps the character behind it; double
            quotes keep all but backslashes.
            .B @@
            begins an argument with @.
            .SH ENVIRONMENT
            Each flag of
            .B gatun serve
            can be given as a variable: GATUN_HTTP_PORT is \\-\\-http\\-port. The command line is stronger than the
            environment, and the environment stronger than the file that \\-\\-config names.
            .TP
            .B GATUN_JAVA_OPTS
            Flags for the Java virtual machine; they win over the program's own.
            .TP
            .B GATUN_CACHE
            Where libraries are kept, ~/.cache/gatun otherwise.
            .TP
            .B JAVA_HOME
            The Java to prefer, where none comes along.
            .SH SIGNALS
            .TP
            .BR SIGTERM ", " SIGINT
            Stop the server once requests are answered; a second SIGINT ends it at once.
            .TP
            .B SIGHUP
            Open the log files anew, and read certificates anew.
            .SH EXIT STATUS
            0 when the server was told to stop and did, 1 when it could not start or stop, 2 for a wrong command line, 3
            when memory ran out.
            .SH EXAMPLES
            .nf
            gatun serve /srv/models
            gatun serve resnet.onnx \\-\\-http\\-port=9000
            gatun check /srv/models
            gatun serve @/etc/gatun/arguments
            .fi
            """;

    private ManualPage() {}

    /** The page of a program with commands. */
    public static String of(CommandSpec program) {
        StringBuilder page = new StringBuilder();
        String version = String.join(" ", program.version());
        page.append(".TH GATUN 1 \"\" ").append(quoted(version)).append(" \"User Commands\"\n");
        page.append(".SH NAME\ngatun \\- ")
                .append(text(lowerFirst(ShellCommand.line(program.usageMessage().description()))
                        .replaceFirst("\\.$", "")))
                .append('\n');
        page.append(".SH SYNOPSIS\n.B gatun\n.I COMMAND\n.RI [ FLAG ]...\n.RI [ ARGUMENT ]...\n");
        page.append(".SH COMMANDS\n");
        List<CommandSpec> commands = program.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .toList();
        for (CommandSpec command : commands) {
            page.append(".TP\n.B gatun ").append(text(command.name())).append('\n');
            paragraphs(page, command.usageMessage().description());
        }
        for (CommandSpec command : commands) {
            flags(page, command);
        }
        return page.append(END).toString();
    }

    private static void flags(StringBuilder page, CommandSpec command) {
        Map<String, List<OptionSpec>> groups = groups(command);
        if (groups.isEmpty() && command.positionalParameters().isEmpty()) {
            return;
        }
        page.append(".SH ").append(quoted("FLAGS OF gatun " + command.name())).append('\n');
        command.positionalParameters().forEach(argument -> {
            page.append(".TP\n.I ").append(text(argument.paramLabel())).append('\n');
            paragraphs(page, argument.description());
        });
        groups.forEach((title, flags) -> {
            if (groups.size() > 1) {
                page.append(".SS ").append(quoted(title)).append('\n');
            }
            flags.forEach(flag -> flag(page, flag));
        });
    }

    /** The flags by the titles under which the help shows them; all under one where it has no titles. */
    private static Map<String, List<OptionSpec>> groups(CommandSpec command) {
        Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
        boolean titled = command.mixins().size() > 1
                && command.usageMessage().sectionMap() != null
                && command.mixins().containsKey("Help");
        List<OptionSpec> shown = new ArrayList<>();
        if (titled) {
            command.mixins().forEach((title, group) -> groups.put(title, shown(group)));
        } else {
            shown.addAll(shown(command));
            shown.removeIf(flag -> Arrays.asList(flag.names()).contains("--help"));
            groups.put("", shown);
        }
        groups.values().removeIf(List::isEmpty);
        return groups;
    }

    private static List<OptionSpec> shown(CommandSpec group) {
        return group.options().stream()
                .filter(flag -> !flag.hidden())
                .sorted(Comparator.comparingInt(OptionSpec::order))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private static void flag(StringBuilder page, OptionSpec flag) {
        String value = flag.arity().max() == 0 ? "" : "=\\fI" + text(flag.paramLabel()) + "\\fR";
        String shownValue = flag.arity().min() == 0 && !value.isEmpty() ? "[" + value + "]" : value;
        page.append(".TP\n")
                .append(Arrays.stream(flag.names())
                        .map(name -> "\\fB" + text(name) + "\\fR" + (name.startsWith("--") ? shownValue : ""))
                        .collect(Collectors.joining(", ")))
                .append('\n');
        String standard = flag.defaultValue();
        String[] description = flag.description();
        String whole = String.join(" ", description).replace("${DEFAULT-VALUE}", standard == null ? "none" : standard);
        boolean told = standard == null
                || standard.isEmpty()
                || String.join(" ", description).contains("${DEFAULT");
        page.append(text(told ? whole : whole + " Default: " + standard + ".")).append('\n');
    }

    private static void paragraphs(StringBuilder page, String... lines) {
        String before = "";
        for (String line : lines) {
            if (!before.isEmpty() && !line.isEmpty()) {
                page.append(".br\n");
            }
            page.append(line.isEmpty() ? ".IP" : text(line)).append('\n');
            before = line;
        }
    }

    private static String lowerFirst(String text) {
        return text.isEmpty() ? text : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }

    private static String quoted(String text) {
        return '"' + text(text).replace("\"", "\\(dq") + '"';
    }

    /** Text that means itself: no character of it is a macro, and its dashes are those that are typed. */
    private static String text(String text) {
        String escaped = text.replace("\\", "\\e").replace("-", "\\-");
        return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
    }
}
