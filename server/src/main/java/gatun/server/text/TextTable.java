// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import java.io.Console;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Draws a table for people: as wide as its cells, with lines where the terminal can show them. Immutable. */
public final class TextTable {
    private static final String BOX_CHARACTERS = "│─┌┬┐├┼┤└┴┘";

    private final Lines lines;

    private TextTable(Lines lines) {
        this.lines = lines;
    }

    /** A table for a terminal that shows box-drawing characters. */
    public static TextTable boxed() {
        return new TextTable(new Lines("│", "─", "┌┬┐", "├┼┤", "└┴┘"));
    }

    /** A table for files and pipes. */
    public static TextTable ascii() {
        return new TextTable(new Lines("|", "-", "+++", "+++", "+++"));
    }

    /** A table for standard output, with lines where it can show them. */
    public static TextTable standard() {
        // Empty where standard input or output is no terminal.
        Optional<Console> terminal = Optional.ofNullable(System.console()).filter(Console::isTerminal);
        boolean boxes =
                terminal.isPresent() && System.out.charset().newEncoder().canEncode(BOX_CHARACTERS);
        return boxes ? boxed() : ascii();
    }

    /** The table, each line with a newline. {@code numbers} are right-aligned; rows have a cell for every column. */
    public String render(List<String> titles, Set<Integer> numbers, List<List<String>> rows) {
        int[] widths = new int[titles.size()];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = titles.get(column).length();
            for (List<String> row : rows) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        border(text, lines.top(), widths);
        row(text, titles, numbers, widths);
        border(text, lines.middle(), widths);
        rows.forEach(row -> row(text, row, numbers, widths));
        border(text, lines.bottom(), widths);
        return text.toString();
    }

    private void row(StringBuilder text, List<String> cells, Set<Integer> numbers, int[] widths) {
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            String space = " ".repeat(widths[column] - cell.length());
            text.append(lines.upright()).append(' ');
            text.append(numbers.contains(column) ? space + cell : cell + space).append(' ');
        }
        text.append(lines.upright()).append('\n');
    }

    private void border(StringBuilder text, String corners, int[] widths) {
        for (int column = 0; column < widths.length; column++) {
            text.append(corners.charAt(column == 0 ? 0 : 1));
            text.append(lines.level().repeat(widths[column] + 2));
        }
        text.append(corners.charAt(2)).append('\n');
    }

    /** The characters that draw the table; borders as left end, crossing, right end. */
    private record Lines(String upright, String level, String top, String middle, String bottom) {}
}
