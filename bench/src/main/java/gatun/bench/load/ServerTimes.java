// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

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
    /** The times since {@code earlier}. */
    ServerTimes since(ServerTimes earlier) {
        return new ServerTimes(
                requestNanos - earlier.requestNanos,
                queueNanos - earlier.queueNanos,
                inputNanos - earlier.inputNanos,
                inferNanos - earlier.inferNanos,
                outputNanos - earlier.outputNanos);
    }

    /** The sum of both. */
    ServerTimes plus(ServerTimes other) {
        return new ServerTimes(
                requestNanos + other.requestNanos,
                queueNanos + other.queueNanos,
                inputNanos + other.inputNanos,
                inferNanos + other.inferNanos,
                outputNanos + other.outputNanos);
    }
}
