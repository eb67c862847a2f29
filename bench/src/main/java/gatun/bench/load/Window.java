// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
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

    /** The latency that {@code percentile} percent of the responses did not exceed; 0 without responses. */
    public long percentileNanos(double percentile) {
        return answered() == 0 ? 0 : latencies.getValueAtPercentile(percentile);
    }

    /**
     * The processor time and memory that the client's own process spent.
     *
     * @param workerHeapBytes allocated on the heap by the workers' threads
     * @param heapBytes allocated on the heap by all threads
     * @param processorNanos processor time of the process, of the kernel on its behalf included
     */
    public record ClientCost(long workerHeapBytes, long heapBytes, long processorNanos) {
        /** Nothing. */
        public static final ClientCost NONE = new ClientCost(0, 0, 0);

        /** The cost since {@code earlier}. */
        public ClientCost since(ClientCost earlier) {
            return new ClientCost(
                    workerHeapBytes - earlier.workerHeapBytes,
                    heapBytes - earlier.heapBytes,
                    processorNanos - earlier.processorNanos);
        }

        /** The sum of both. */
        public ClientCost plus(ClientCost other) {
            return new ClientCost(
                    workerHeapBytes + other.workerHeapBytes,
                    heapBytes + other.heapBytes,
                    processorNanos + other.processorNanos);
        }
    }

    /** Failed requests by the text of the failure, and unexpected responses by what was wrong. */
    public record Problems(Map<String, Long> failures, Map<String, Long> wrongResponses) {
        /** No problems. */
        public static final Problems NONE = new Problems(Map.of(), Map.of());

        /** How many requests failed. */
        public long failed() {
            return total(failures);
        }

        /** How many responses were not as expected. */
        public long wrong() {
            return total(wrongResponses);
        }

        Problems plus(Problems other) {
            return new Problems(sum(failures, other.failures), sum(wrongResponses, other.wrongResponses));
        }

        private static long total(Map<String, Long> counts) {
            return counts.values().stream().mapToLong(Long::longValue).sum();
        }

        private static Map<String, Long> sum(Map<String, Long> left, Map<String, Long> right) {
            Map<String, Long> sum = new TreeMap<>(left);
            right.forEach((text, count) -> sum.merge(text, count, Long::sum));
            return sum;
        }
    }
}
