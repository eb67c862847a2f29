package gatun.server;

import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The one table that a start prints: what is served, by what, in which state, and why not. */
final class StartTable {
    private static final List<String> TITLES = List.of("Model", "Version", "Engine", "State", "Load time");
    private static final int LOAD_TIME = 4;

    private final Lines lines;

    private StartTable(Lines lines) {
        this.lines = lines;
    }

    /** A table for a terminal that shows box-drawing characters. */
    static StartTable boxed() {
        return new StartTable(new Lines("│", "─", "┌┬┐", "├┼┤", "└┴┘"));
    }

    /** A table for files and pipes. */
    static StartTable ascii() {
        return new StartTable(new Lines("|", "-", "+++", "+++", "+++"));
    }

    /** The table of {@code models}, with the reasons of those that cannot answer beneath; each line ends with a newline. */
    String render(List<ModelStatus> models) {
        List<List<String>> rows = new ArrayList<>();
        for (ModelStatus model : models) {
            rows.add(List.of(
                    model.name(),
                    model.version().isEmpty() ? "-" : model.version(),
                    model.engine().isEmpty() ? "-" : model.engine(),
                    state(model.state()),
                    loadTime(model)));
        }
        int[] widths = new int[TITLES.size()];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = TITLES.get(column).length();
            for (List<String> row : rows) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        border(text, lines.top(), widths);
        row(text, TITLES, widths);
        border(text, lines.middle(), widths);
        rows.forEach(row -> row(text, row, widths));
        border(text, lines.bottom(), widths);
        for (ModelStatus model : models) {
            if (!model.reason().isEmpty()) {
                String version = model.version().isEmpty() ? "" : " version " + model.version();
                text.append(model.name()).append(version).append(": ");
                text.append(model.reason().strip().replace("\n", "\n    ")).append('\n');
            }
        }
        return text.toString();
    }

    private void row(StringBuilder text, List<String> cells, int[] widths) {
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            String space = " ".repeat(widths[column] - cell.length());
            text.append(lines.upright()).append(' ');
            text.append(column == LOAD_TIME ? space + cell : cell + space).append(' ');
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

    private static String state(ModelState state) {
        return switch (state) {
            case UNKNOWN -> "not loaded";
            case LOADING -> "loading";
            case READY -> "ready";
            case UNLOADING -> "unloading";
            case UNAVAILABLE -> "unavailable";
        };
    }

    private static String loadTime(ModelStatus model) {
        Duration time = model.loadTime();
        if (time.isZero()) {
            return "-";
        }
        long millis = Math.max(1, time.toMillis());
        return millis < 10_000 ? millis + " ms" : String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    }

    /** The characters that draw the table; borders as left end, crossing, right end. */
    private record Lines(String upright, String level, String top, String middle, String bottom) {}
}
