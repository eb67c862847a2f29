// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The outcomes of the responses of a decoupled model that were the first of their request, or the second, and so on.
 * Times are totals in nanoseconds.
 *
 * @param computeInferNanos from the response before, or from the begin of the run, until the engine had this one
 * @param computeOutputNanos placing outputs and handing them over
 * @param successCount responses with outputs
 * @param failCount failures instead of a response
 * @param failNanos from the response before to the failure
 * @param emptyCount ends of an answer without one more response
 * @param emptyNanos from the response before to the end
 * @param cancelCount responses that nobody wanted any more
 * @param cancelNanos from the response before until that was known
 */
public record ResponseStatistics(
        long computeInferNanos,
        long computeOutputNanos,
        long successCount,
        long failCount,
        long failNanos,
        long emptyCount,
        long emptyNanos,
        long cancelCount,
        long cancelNanos) {
    /** Of no response. */
    public static final ResponseStatistics NONE = new ResponseStatistics(0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** How long the responses with outputs took. */
    public long successNanos() {
        return computeInferNanos + computeOutputNanos;
    }

    /** The sum of both. */
    public ResponseStatistics plus(ResponseStatistics other) {
        return new ResponseStatistics(
                computeInferNanos + other.computeInferNanos,
                computeOutputNanos + other.computeOutputNanos,
                successCount + other.successCount,
                failCount + other.failCount,
                failNanos + other.failNanos,
                emptyCount + other.emptyCount,
                emptyNanos + other.emptyNanos,
                cancelCount + other.cancelCount,
                cancelNanos + other.cancelNanos);
    }
}
