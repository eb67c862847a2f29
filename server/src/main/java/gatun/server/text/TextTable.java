// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import java.io.Console;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * Draws a table for people: as wide as its cells, with lines where the terminal can show them. On a terminal, names of the
 * first column continue on a second line rather than make the table wider than the screen. Immutable.
 */
public final class TextTable {
    private static final String BOX_CHARACTERS = "│─┌┬┐├┼┤└┴┘";
    private static final String SEPARATORS = "_-./: ";
    private static final int USUAL_COLUMNS = 80;
    /** The narrowest that the first column becomes. */
    private static final int LEAST_FIRST = 12;

    private final Lines lines;
    private final int width;

    private TextTable(Lines lines, int width) {
        this.lines = lines;
        this.width = width;
    }

    /** A table for a terminal that shows box-drawing characters. */
    public static TextTable boxed() {
        return new TextTable(new Lines("│", "─", "┌┬┐", "├┼┤", "└┴┘"), Integer.MAX_VALUE);
    }

    /** A table for files and pipes. */
    public static TextTable ascii() {
        return new TextTable(new Lines("|", "-", "+++", "+++", "+++"), Integer.MAX_VALUE);
    }

    /** The same table for a screen of {@code columns}. */
    public TextTable within(int columns) {
        return new TextTable(lines, columns);
    }

    /** A table for standard output, with lines where it can show them. */
    public static TextTable standard() {
        boolean boxes = isTerminal() && System.out.charset().newEncoder().canEncode(BOX_CHARACTERS);
        return boxes ? boxed() : ascii();
    }

    /** The standard table, on a terminal no wider than its screen. A file or pipe gets each row on one line. */
    public static TextTable fitted() {
        return isTerminal() ? standard().within(screenColumns()) : standard();
    }

    /** Whether both standard input and standard output are terminals. */
    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    private static int screenColumns() {
        try (Terminal terminal = TerminalBuilder.builder()
                .system(true)
                .provider("ffm")
                .dumb(false)
                .build()) {
            int columns = terminal.getWidth();
            return columns > 0 ? columns : USUAL_COLUMNS;
        } catch (IOException | IllegalStateException e) {
            return USUAL_COLUMNS; // the library throws both where it does not know the terminal
        }
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
        widths[0] = Math.min(widths[0], firstWidth(widths));
        StringBuilder text = new StringBuilder();
        border(text, lines.top(), widths);
        row(text, titles, numbers, widths);
        border(text, lines.middle(), widths);
        rows.forEach(row -> wrappedRow(text, row, numbers, widths));
        border(text, lines.bottom(), widths);
        return text.toString();
    }

    /** The most that the first column may take where the others have {@code widths}. */
    private int firstWidth(int[] widths) {
        int others = 1;
        for (int column = 1; column < widths.length; column++) {
            others += widths[column] + 3;
        }
        return Math.max(LEAST_FIRST, width - others - 3);
    }

    /** A row whose first cell goes on below where it is too long, and others are empty there. */
    private void wrappedRow(StringBuilder text, List<String> row, Set<Integer> numbers, int[] widths) {
        List<String> cells = new ArrayList<>(row);
        String rest = row.getFirst();
        while (rest.length() > widths[0]) {
            int end = lineEnd(rest, widths[0]);
            cells.set(0, rest.substring(0, end));
            row(text, cells, numbers, widths);
            Collections.fill(cells, "");
            rest = rest.substring(end);
        }
        cells.set(0, rest);
        row(text, cells, numbers, widths);
    }

    /** Where the first line of {@code name} ends: behind its last separator in the right half, else where it must. */
    private static int lineEnd(String name, int limit) {
        for (int end = limit; end > limit / 2; end--) {
            if (SEPARATORS.indexOf(name.charAt(end - 1)) >= 0) {
                return end;
            }
        }
        return Character.isHighSurrogate(name.charAt(limit - 1)) ? limit - 1 : limit;
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
