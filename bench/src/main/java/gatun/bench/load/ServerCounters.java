// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/**
 * The counters of a server for a model.
 *
 * @param inferences inferences, each element of a batch by itself
 * @param executions how often the model was run, a batch being one
 * @param requests requests that were answered
 * @param cacheHits requests that were answered from the response cache, without waiting or computing
 */
public record ServerCounters(long inferences, long executions, long requests, long cacheHits, ServerTimes times) {
    /** The counts since {@code earlier}. */
    public ServerCounters since(ServerCounters earlier) {
        return new ServerCounters(
                inferences - earlier.inferences,
                executions - earlier.executions,
                requests - earlier.requests,
                cacheHits - earlier.cacheHits,
                times.since(earlier.times));
    }

    /** The sum of both. */
    public ServerCounters plus(ServerCounters other) {
        return new ServerCounters(
                inferences + other.inferences,
                executions + other.executions,
                requests + other.requests,
                cacheHits + other.cacheHits,
                times.plus(other.times));
    }

    /** A sum of times as nanoseconds per request; 0 without requests. */
    public double perRequest(long nanos) {
        return requests == 0 ? 0 : (double) nanos / requests;
    }

    /**
     * The time that a server took for the requests to a model. Sums in nanoseconds.
     *
     * @param requestNanos from when a request came until its response was ready
     * @param queueNanos waiting for the model
     * @param inputNanos getting the inputs ready
     * @param inferNanos computing
     * @param outputNanos getting the outputs ready
     */
    public record ServerTimes(long requestNanos, long queueNanos, long inputNanos, long inferNanos, long outputNanos) {
        ServerTimes since(ServerTimes earlier) {
            return new ServerTimes(
                    requestNanos - earlier.requestNanos,
                    queueNanos - earlier.queueNanos,
                    inputNanos - earlier.inputNanos,
                    inferNanos - earlier.inferNanos,
                    outputNanos - earlier.outputNanos);
        }

        ServerTimes plus(ServerTimes other) {
            return new ServerTimes(
                    requestNanos + other.requestNanos,
                    queueNanos + other.queueNanos,
                    inputNanos + other.inputNanos,
                    inferNanos + other.inferNanos,
                    outputNanos + other.outputNanos);
        }
    }
}
