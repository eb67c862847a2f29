// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.Measurement.MeasurementProgress;
import java.io.PrintStream;

/** Shows on one line of a terminal how far a run is; where there is no terminal it shows nothing. For one thread. */
public final class ProgressLine {
    private static final int BAR_WIDTH = 20;
    private static final String CLEAR_LINE = "\r\u001B[K";

    private final PrintStream terminal;
    private final boolean visible;
    private String transport = "";
    private int run;
    private int runs;

    /** Shows nothing unless {@code visible}, which is for terminals. */
    public ProgressLine(PrintStream terminal, boolean visible) {
        this.terminal = terminal;
        this.visible = visible;
    }

    /** Begins a load: number {@code newRun} of {@code newRuns}, from 1. */
    public void begin(String newTransport, int newRun, int newRuns) {
        transport = newTransport;
        run = newRun;
        runs = newRuns;
    }

    /** Shows how far the load is. */
    public void show(MeasurementProgress progress) {
        if (visible) {
            terminal.print(CLEAR_LINE + text(progress));
            terminal.flush();
        }
    }

    /** Takes the line away. */
    public void clear() {
        if (visible) {
            terminal.print(CLEAR_LINE);
            terminal.flush();
        }
    }

    String text(MeasurementProgress progress) {
        int filled = (int) Math.round(Math.clamp(progress.part(), 0, 1) * BAR_WIDTH);
        StringBuilder text = new StringBuilder();
        text.append('[').append(run).append('/').append(runs).append("] ").append(transport);
        text.append(' ').append(progress.load().text()).append(' ');
        text.append("█".repeat(filled)).append("░".repeat(BAR_WIDTH - filled));
        text.append(progress.window() == 0 ? " warm-up" : " window " + progress.window());
        if (progress.previous().answered() > 0) {
            text.append(", ")
                    .append(Units.digits(progress.previous().perSecond()))
                    .append("/s");
            text.append(", p99 ").append(Units.time(progress.previous().percentileNanos(99)));
        }
        return text.toString();
    }
}
