// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Lists a command's flags by group, in order of declaration, in two columns of one width. */
final class FlagHelp implements IHelpSectionRenderer {
    private static final int WIDTH = 80;
    private static final int FLAG_WIDTH = 34;
    private static final String INDENT = " ".repeat(FLAG_WIDTH);

    @Override
    public String render(Help help) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, CommandSpec> group : help.commandSpec().mixins().entrySet()) {
            text.append('\n').append(group.getKey()).append(":\n");
            group.getValue()
                    .positionalParameters()
                    .forEach(argument ->
                            row(text, argument.paramLabel() + "...", String.join(" ", argument.description())));
            group.getValue().options().stream()
                    .filter(option -> !option.hidden())
                    .sorted(Comparator.comparingInt(OptionSpec::order))
                    .forEach(option -> row(text, name(option), description(option)));
        }
        return text.toString();
    }

    private static void row(StringBuilder text, String name, String description) {
        text.append("  ").append(name);
        int column = 2 + name.length();
        // Two blanks between the columns, or the text begins on a line of its own.
        if (column > FLAG_WIDTH - 2) {
            text.append('\n');
            column = 0;
        }
        text.append(" ".repeat(FLAG_WIDTH - column));
        wrap(text, description);
    }

    private static String name(OptionSpec option) {
        String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
        String first = option.names()[0];
        String names = first.startsWith("--") ? first : first + ", " + option.longestName();
        return names + (option.arity().min() == 0 && !value.isEmpty() ? "[" + value + "]" : value);
    }

    private static String description(OptionSpec option) {
        String text = String.join(" ", List.of(option.description()));
        return option.defaultValue() == null ? text : text + " Default: " + option.defaultValue() + ".";
    }

    private static void wrap(StringBuilder text, String description) {
        int column = FLAG_WIDTH;
        boolean first = true;
        for (StringTokenizer words = new StringTokenizer(description); words.hasMoreTokens(); ) {
            String word = words.nextToken();
            if (!first && column + 1 + word.length() > WIDTH) {
                text.append('\n').append(INDENT);
                column = FLAG_WIDTH;
                first = true;
            }
            text.append(first ? "" : " ").append(word);
            column += word.length() + (first ? 0 : 1);
            first = false;
        }
        text.append('\n');
    }
}
