// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.List;
import java.util.Locale;

/** Draws a plot as SVG, for light and dark backgrounds. Lines differ in colour, from the ninth on in dashes. */
record SvgPlot(String title, Axis x, Axis y, List<PlotSeries> series) {
    private static final int WIDTH = 760;
    private static final int LEFT = 78;
    private static final int RIGHT = 24;
    private static final int TOP = 44;
    private static final int PLOT_HEIGHT = 320;
    private static final int AXIS_HEIGHT = 58;
    private static final int LEGEND_LINE = 20;
    private static final int LEGEND_COLUMNS = 2;
    private static final int PLOT_WIDTH = WIDTH - LEFT - RIGHT;
    // Told apart also by those who do not see red and green.
    private static final int COLOURS = 8;
    private static final List<String> DASHES = List.of("", "7 4", "2 3", "9 3 2 3");
    private static final String STYLE = """
        .gatun-plot{font:12px system-ui,sans-serif;--ink:#1c2330;--soft:#5b6577;--grid:#e2e6ed;--paper:#fff;\
        --c0:#0067a5;--c1:#d0480b;--c2:#00805b;--c3:#a8437f;--c4:#a97800;--c5:#3d8fd1;--c6:#6b4fd8;--c7:#6d6d6d}
        @media(prefers-color-scheme:dark){.gatun-plot{--ink:#e8ebf1;--soft:#a3adbf;--grid:#2f3848;--paper:#141a24;\
        --c0:#5db1f0;--c1:#ff8a4c;--c2:#33c796;--c3:#eb8cc4;--c4:#e8b93c;--c5:#9ccbf5;--c6:#ab97ff;--c7:#b4b4b4}}
        .gatun-plot .paper{fill:var(--paper)}.gatun-plot text{fill:var(--soft)}
        .gatun-plot .title{fill:var(--ink);font-size:15px;font-weight:600}.gatun-plot .legend{fill:var(--ink)}
        .gatun-plot .grid{stroke:var(--grid);stroke-width:1}.gatun-plot .line{fill:none;stroke-width:2;stroke-linejoin:round}
        """;

    /** The picture, which can stand by itself or within a page. */
    String svg() {
        int rows = (series.size() + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
        int height = TOP + PLOT_HEIGHT + AXIS_HEIGHT + rows * LEGEND_LINE + 12;
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gatun-plot\" viewBox=\"0 0 %d %d\" width=\"%d\""
                        + " height=\"%d\" role=\"img\" aria-label=\"%s\">%n<style>%n%s</style>%n",
                WIDTH,
                height,
                WIDTH,
                height,
                Markup.escape(title),
                STYLE));
        svg.append(String.format(
                Locale.ROOT, "<rect class=\"paper\" width=\"%d\" height=\"%d\" rx=\"6\"/>%n", WIDTH, height));
        text(svg, LEFT, 26, "start", "title", title);
        grid(svg);
        for (int i = 0; i < series.size(); i++) {
            line(svg, i);
            legend(svg, i, TOP + PLOT_HEIGHT + AXIS_HEIGHT + i / LEGEND_COLUMNS * LEGEND_LINE);
        }
        return svg.append("</svg>\n").toString();
    }

    private void grid(StringBuilder svg) {
        double base = TOP + PLOT_HEIGHT;
        for (Axis.Tick tick : y.ticks()) {
            double at = top(tick.value());
            segment(svg, LEFT, at, LEFT + PLOT_WIDTH, at);
            text(svg, LEFT - 8, at + 4, "end", "tick", tick.text());
        }
        for (Axis.Tick tick : x.ticks()) {
            double at = left(tick.value());
            segment(svg, at, TOP, at, base);
            text(svg, at, base + 18, "middle", "tick", tick.text());
        }
        text(svg, LEFT + PLOT_WIDTH / 2.0, base + 40, "middle", "label", x.label());
        svg.append(String.format(
                Locale.ROOT,
                "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(18 %.1f) rotate(-90)\">%s</text>%n",
                TOP + PLOT_HEIGHT / 2.0,
                Markup.escape(y.label())));
    }

    private void line(StringBuilder svg, int index) {
        PlotSeries one = series.get(index);
        StringBuilder points = new StringBuilder();
        for (PlotSeries.Point point : one.points()) {
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", left(point.x()), top(point.y())));
        }
        svg.append(String.format(
                "<polyline class=\"line\" style=\"%s\" points=\"%s\"/>%n",
                stroke(index), points.toString().strip()));
        if (one.marked()) {
            for (PlotSeries.Point point : one.points()) {
                svg.append(String.format(
                        Locale.ROOT,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\""
                                + " style=\"fill:var(--c%d)\"><title>%s</title></circle>%n",
                        left(point.x()),
                        top(point.y()),
                        index % COLOURS,
                        Markup.escape(point.text())));
            }
        }
    }

    private void legend(StringBuilder svg, int index, int at) {
        int from = LEFT + index % LEGEND_COLUMNS * (PLOT_WIDTH / LEGEND_COLUMNS);
        svg.append(String.format("<path class=\"line\" style=\"%s\" d=\"M%d %dh26\"/>%n", stroke(index), from, at + 8));
        text(svg, from + 34, at + 12, "start", "legend", series.get(index).name());
    }

    private static String stroke(int index) {
        String dashes = DASHES.get(index / COLOURS % DASHES.size());
        return "stroke:var(--c" + index % COLOURS + ")" + (dashes.isEmpty() ? "" : ";stroke-dasharray:" + dashes);
    }

    private double left(double value) {
        return LEFT + Math.clamp(x.position(value), 0, 1) * PLOT_WIDTH;
    }

    private double top(double value) {
        return TOP + (1 - Math.clamp(y.position(value), 0, 1)) * PLOT_HEIGHT;
    }

    private static void segment(StringBuilder svg, double x1, double y1, double x2, double y2) {
        svg.append(String.format(Locale.ROOT, "<path class=\"grid\" d=\"M%.1f %.1fL%.1f %.1f\"/>%n", x1, y1, x2, y2));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String kind, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
                kind,
                x,
                y,
                anchor,
                Markup.escape(text)));
    }

    /** Text within XML and HTML. */
    static final class Markup {
        private Markup() {}

        /** {@code text} for tags and attributes; a question mark for what XML cannot hold. */
        static String escape(String text) {
            StringBuilder escaped = new StringBuilder(text.length());
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                switch (c) {
                    case '&' -> escaped.append("&amp;");
                    case '<' -> escaped.append("&lt;");
                    case '>' -> escaped.append("&gt;");
                    case '"' -> escaped.append("&quot;");
                    default -> escaped.append((c < ' ' && c != '\n' && c != '\t') || c >= 0xFFFE ? '?' : c);
                }
            }
            return escaped.toString();
        }
    }
}
