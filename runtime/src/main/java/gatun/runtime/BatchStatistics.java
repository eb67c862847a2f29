// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The executions of a model version with one batch size since it was loaded. Times are totals in nanoseconds.
 *
 * @param batchSize the batch size; 1 also where the model has no batch dimension
 * @param executionCount runs of the engine
 * @param computeInputNanos preparing inputs
 * @param computeInferNanos in the engine
 * @param computeOutputNanos placing outputs
 */
public record BatchStatistics(
        int batchSize, long executionCount, long computeInputNanos, long computeInferNanos, long computeOutputNanos) {
    /** The sum of both, which are of the same batch size. */
    public BatchStatistics plus(BatchStatistics other) {
        return new BatchStatistics(
                batchSize,
                executionCount + other.executionCount,
                computeInputNanos + other.computeInputNanos,
                computeInferNanos + other.computeInferNanos,
                computeOutputNanos + other.computeOutputNanos);
    }
}
