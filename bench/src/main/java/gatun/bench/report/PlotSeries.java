// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.List;

/** A line of a plot: its points in the order that they are joined, marked each or not. */
record PlotSeries(String name, List<Point> points, boolean marked) {
    /** A point: the values on both axes, and a label. */
    record Point(double x, double y, String text) {}
}
