// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import gatun.server.text.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.jline.utils.WCWidth;

/** The lines of a screen or of a plain table. Stateless; every line is text that a terminal can show as it is. */
final class TopPage {
    private static final String NOTHING = "-";

    // In 80 columns a name, the state, and what happens now have room; what is less urgent stands behind.
    private static final int NAME_WIDTH = 20;
    private static final int LONGEST_NAME_WIDTH = 60;
    private static final int VERSION_WIDTH = 7;
    private static final int STATE_WIDTH = 11;
    private static final int NUMBER_WIDTH = 8;
    private static final int OTHER_COLUMNS = 92;

    private TopPage() {}

    /** The title of the columns; {@code width} is that of the whole line. */
    static String titles(int width) {
        return row(
                width,
                List.of(
                        "MODEL", "VERSION", "STATE", "REQ/S", "MEAN", "QUEUE", "FAIL/S", "BATCH", "WAITING", "P50",
                        "P99"));
    }

    static String line(ModelLine line, int width) {
        ModelLine.Times times = line.times();
        Sample.Model model = line.model();
        return row(
                width,
                List.of(
                        model.key().model(),
                        model.key().version().isEmpty() ? NOTHING : model.key().version(),
                        model.state(),
                        number(line.rate()),
                        time(times.mean()),
                        time(times.queue()),
                        number(line.failureRate()),
                        line.batch().isPresent() ? number(line.batch().getAsDouble()) : NOTHING,
                        line.waiting().isPresent() ? number(line.waiting().getAsDouble()) : NOTHING,
                        time(times.median()),
                        time(times.late())));
    }

    private static String row(int width, List<String> cells) {
        int name = Math.max(NAME_WIDTH, Math.min(LONGEST_NAME_WIDTH, width - OTHER_COLUMNS));
        StringBuilder text = new StringBuilder();
        text.append(left(cells.get(0), name))
                .append(' ')
                .append(left(cells.get(1), VERSION_WIDTH))
                .append(' ');
        text.append(left(cells.get(2), STATE_WIDTH));
        for (String cell : cells.subList(3, cells.size())) {
            text.append(' ')
                    .append(" ".repeat(Math.max(0, NUMBER_WIDTH - cell.length())))
                    .append(cell);
        }
        return cut(text.toString(), width);
    }

    private static String left(String text, int width) {
        String cut = cut(SafeText.of(text, width), width);
        return cut + " ".repeat(width - columns(cut));
    }

    static List<String> head(String url, List<ModelLine> lines, Sample sample, int width) {
        double rate = lines.stream().mapToDouble(ModelLine::rate).sum();
        long ready = lines.stream()
                .filter(line -> line.model().state().equals("ready"))
                .count();
        List<String> head = new ArrayList<>();
        String more = sample.omitted() == 0 ? "" : " and " + sample.omitted() + " more";
        head.add(cut(
                SafeText.of(url, 60) + "   " + lines.size() + " versions" + more + ", " + ready + " ready   "
                        + number(rate) + " requests/s",
                width));
        ServerMetrics metrics = sample.metrics();
        List<String> parts = new ArrayList<>();
        metrics.memory().ifPresent(bytes -> parts.add("memory " + bytes(bytes)));
        metrics.buffers().ifPresent(bytes -> parts.add("buffers in use " + bytes(bytes)));
        for (int i = 0; i < metrics.gpus().size(); i++) {
            ServerMetrics.Gpu gpu = metrics.gpus().get(i);
            parts.add("GPU " + i + " " + Math.round(100 * gpu.utilization()) + " % " + bytes(gpu.usedBytes()));
        }
        if (!parts.isEmpty()) {
            head.add(cut(String.join("   ", parts), width));
        }
        return head;
    }

    static List<String> details(ModelLine line, int width) {
        ModelLine.Times times = line.times();
        List<String> text = new ArrayList<>();
        text.add("model     " + line.model().key().model());
        text.add("version   " + line.model().key().version());
        text.add("state     " + line.model().state());
        text.add("reason    "
                + (line.model().reason().isEmpty() ? NOTHING : line.model().reason()));
        text.add("requests  " + line.total().requests() + " answered, "
                + line.total().failures() + " failed, " + line.total().executions() + " runs");
        text.add("now       " + number(line.rate()) + " requests/s, mean " + time(times.mean()));
        text.add("  queue           " + time(times.queue()));
        text.add("  compute input   " + time(times.input()));
        text.add("  compute infer   " + time(times.infer()));
        text.add("  compute output  " + time(times.output()));
        return text.stream().map(part -> cut(part, width)).toList();
    }

    /** The part of a line that fits into {@code width} columns. */
    static String cut(String line, int width) {
        int columns = 0;
        int at = 0;
        while (at < line.length()) {
            int character = line.codePointAt(at);
            columns += WCWidth.wcwidth(character);
            if (columns > width) {
                return line.substring(0, at);
            }
            at += Character.charCount(character);
        }
        return line;
    }

    /** The columns that a text takes: two for a character of Chinese, say. */
    private static int columns(String text) {
        return text.codePoints().map(WCWidth::wcwidth).sum();
    }

    static String number(double value) {
        return value != 0 && value < 100
                ? String.format(Locale.ROOT, "%.1f", value)
                : String.format(Locale.ROOT, "%.0f", value);
    }

    static String time(OptionalDouble micros) {
        if (micros.isEmpty()) {
            return NOTHING;
        }
        double value = micros.getAsDouble();
        if (value < 1000) {
            return String.format(Locale.ROOT, "%.0f us", value);
        }
        return value < 1_000_000
                ? String.format(Locale.ROOT, "%.1f ms", value / 1000)
                : String.format(Locale.ROOT, "%.1f s", value / 1_000_000);
    }

    private static String bytes(double value) {
        return value < 1 << 30
                ? String.format(Locale.ROOT, "%.0f MiB", value / (1 << 20))
                : String.format(Locale.ROOT, "%.1f GiB", value / (1 << 30));
    }
}
