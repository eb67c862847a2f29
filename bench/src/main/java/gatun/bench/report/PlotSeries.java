// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.List;

/**
 * A line of a plot.
 *
 * @param name the name in the legend
 * @param points in the order they are joined
 * @param marked whether each point has a mark
 */
record PlotSeries(String name, List<Point> points, boolean marked) {
    /** A point: the values on both axes, and a label. */
    record Point(double x, double y, String text) {}
}
