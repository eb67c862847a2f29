// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Draws a soak test: one small chart below the other, time to the right, as SVG. */
final class Picture {
    private static final int WIDTH = 860;
    private static final int CHART_HEIGHT = 110;
    private static final int LEFT = 70;
    private static final int TOP = 26;
    private static final int PLOT_WIDTH = WIDTH - LEFT - 20;
    private static final int PLOT_HEIGHT = CHART_HEIGHT - 40;

    private final StringBuilder svg = new StringBuilder();
    private int charts;

    private Picture() {}

    /** Writes {@code samples} to {@code file}. */
    static void write(Path file, List<Sample> samples) throws IOException {
        Picture picture = new Picture();
        picture.chart("requests answered a second", samples, sample -> sample.answered());
        picture.chart("latency, 99th percentile, ms", samples, sample -> sample.p99Micros() / 1000);
        picture.chart("errors and wrong answers", samples, sample -> sample.errors() + sample.wrong());
        picture.chart(
                "heap after collection, MiB", samples, sample -> sample.vitals().heapMib());
        picture.chart("resident memory, MiB", samples, sample -> sample.vitals().residentMib());
        picture.chart("file descriptors", samples, sample -> sample.vitals().descriptors());
        picture.chart("threads", samples, sample -> sample.vitals().threads());
        Files.writeString(file, picture.document());
    }

    private String document() {
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + WIDTH + "\" height=\"" + charts * CHART_HEIGHT
                + "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                + svg + "</svg>\n";
    }

    private void chart(String title, List<Sample> samples, ToDoubleFunction<Sample> value) {
        int y = charts++ * CHART_HEIGHT;
        double most = Math.max(1e-9, samples.stream().mapToDouble(value).max().orElse(1)) * 1.05;
        double seconds = Math.max(1, samples.getLast().seconds());
        line(String.format(Locale.ROOT, "<g transform=\"translate(0 %d)\">", y));
        line(String.format(Locale.ROOT, "<text x=\"%d\" y=\"18\" font-weight=\"bold\">%s</text>", LEFT, title));
        line(String.format(
                Locale.ROOT,
                "<path d=\"M%d %d v%d h%d\" fill=\"none\" stroke=\"#999\"/>",
                LEFT,
                TOP,
                PLOT_HEIGHT,
                PLOT_WIDTH));
        line(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
                LEFT - 6,
                TOP + 10,
                number(most)));
        line(String.format(
                Locale.ROOT, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>", LEFT - 6, TOP + PLOT_HEIGHT));
        line(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.0f min</text>",
                LEFT + PLOT_WIDTH,
                TOP + PLOT_HEIGHT + 14,
                seconds / 60));
        StringBuilder points = new StringBuilder();
        for (Sample sample : samples) {
            points.append(String.format(
                    Locale.ROOT,
                    "%.1f,%.1f ",
                    LEFT + sample.seconds() / seconds * PLOT_WIDTH,
                    TOP + PLOT_HEIGHT - value.applyAsDouble(sample) / most * PLOT_HEIGHT));
        }
        line(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"1.5\"/>\n</g>",
                points.toString().strip()));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
    }

    private void line(String element) {
        svg.append(element).append('\n');
    }
}
