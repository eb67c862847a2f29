// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.List;
import java.util.OptionalDouble;

/**
 * Decides when enough was measured: when, in the last three windows, neither the throughput nor the latency differs
 * from their mean by more than the stability allows. Pure: the same windows give the same verdict.
 *
 * @param stability the greatest difference from the mean, as a part of it: 0.1 for ten percent
 * @param percentile the percentile of the latency that counts; empty for the average
 * @param maxWindows the most windows, after which the measurement ends in any case; at least 1
 */
public record StoppingRule(double stability, OptionalDouble percentile, int maxWindows) {
    /** How many windows are compared, and make up the result. */
    public static final int COMPARED_WINDOWS = 3;

    /** The decision after a window. */
    public enum Verdict {
        /** Measure another window. */
        CONTINUE,
        /** The last windows are alike. */
        STABLE,
        /** The last windows are not alike, and there are to be no more. */
        UNSTABLE
    }

    /** Decides whether to go on after these windows, the last of which has just ended. */
    public Verdict decide(List<Window> windows) {
        if (windows.size() >= COMPARED_WINDOWS && isStable(last(windows))) {
            return Verdict.STABLE;
        }
        return windows.size() >= maxWindows ? Verdict.UNSTABLE : Verdict.CONTINUE;
    }

    /** The latency that counts, in nanoseconds. */
    public double latencyNanos(Window window) {
        return percentile.isPresent()
                ? (double) window.percentileNanos(percentile.getAsDouble())
                : window.averageNanos();
    }

    /** The windows that make up the result. */
    public static List<Window> last(List<Window> windows) {
        return windows.subList(Math.max(0, windows.size() - COMPARED_WINDOWS), windows.size());
    }

    private boolean isStable(List<Window> last) {
        return last.stream().allMatch(window -> window.answered() > 0)
                && isAlike(last.stream().mapToDouble(Window::perSecond).toArray())
                && isAlike(last.stream().mapToDouble(this::latencyNanos).toArray());
    }

    private boolean isAlike(double... values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        double mean = sum / values.length;
        for (double value : values) {
            if (Math.abs(value - mean) > stability * mean) {
                return false;
            }
        }
        return true;
    }
}
