// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * The measurements of one span of time, or of several that are put together.
 *
 * @param nanos how long it was
 * @param latencies of answered requests, in nanoseconds from when they were due; not to be changed
 * @param problems requests that did not end as they should
 * @param tensorBytes bytes of the tensors of answered requests and of their responses
 * @param longestLagNanos the longest time by which a request was sent later than it was due
 * @param cost what the client spent
 * @param server the server's counters; empty where it has none
 */
public record Window(
        long nanos,
        Histogram latencies,
        Problems problems,
        long tensorBytes,
        long longestLagNanos,
        ClientCost cost,
        Optional<ServerCounters> server) {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Nothing, measured in no time. */
    public static Window empty() {
        return new Window(
                0, new Histogram(Worker.SIGNIFICANT_DIGITS), Problems.NONE, 0, 0, ClientCost.NONE, Optional.empty());
    }

    /** Both as if they were one window. */
    public Window plus(Window other) {
        if (nanos == 0) {
            return other;
        }
        Histogram both = latencies.copy();
        both.add(other.latencies);
        return new Window(
                nanos + other.nanos,
                both,
                problems.plus(other.problems),
                tensorBytes + other.tensorBytes,
                Math.max(longestLagNanos, other.longestLagNanos),
                cost.plus(other.cost),
                server.flatMap(mine -> other.server.map(mine::plus)));
    }

    /** How many requests were answered. */
    public long answered() {
        return latencies.getTotalCount();
    }

    /** Answered requests per second. */
    public double perSecond() {
        return nanos == 0 ? 0 : answered() * NANOS_PER_SECOND / (double) nanos;
    }

    /** Bytes of tensors per second, in both directions. */
    public double tensorBytesPerSecond() {
        return nanos == 0 ? 0 : tensorBytes * NANOS_PER_SECOND / (double) nanos;
    }

    /** The mean latency in nanoseconds; 0 without responses. */
    public double averageNanos() {
        return answered() == 0 ? 0 : latencies.getMean();
    }

    /**
     * The latency in nanoseconds that {@code percentile} percent of the responses did not exceed; 0 without responses.
     */
    public long percentileNanos(double percentile) {
        return answered() == 0 ? 0 : latencies.getValueAtPercentile(percentile);
    }
}
