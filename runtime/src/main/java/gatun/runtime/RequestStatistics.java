// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The answered requests of one batch size to a model version since it was loaded. Times are totals in nanoseconds.
 *
 * @param batchSize the batch size that the requests had, whatever the engine was given; 1 also where the model has no
 *     batch dimension
 * @param count how many there were
 * @param requestNanos from arrival in the runtime to the response
 * @param queueNanos waiting for an instance
 * @param computeInputNanos preparing inputs, as long as that took for the whole batch that a request was in; so with
 *     the next two
 * @param computeInferNanos in the engine
 * @param computeOutputNanos placing outputs
 */
public record RequestStatistics(
        int batchSize,
        long count,
        long requestNanos,
        long queueNanos,
        long computeInputNanos,
        long computeInferNanos,
        long computeOutputNanos) {
    /** The sum of both, which are of the same batch size. */
    public RequestStatistics plus(RequestStatistics other) {
        return new RequestStatistics(
                batchSize,
                count + other.count,
                requestNanos + other.requestNanos,
                queueNanos + other.queueNanos,
                computeInputNanos + other.computeInputNanos,
                computeInferNanos + other.computeInferNanos,
                computeOutputNanos + other.computeOutputNanos);
    }
}
