// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The outcomes of the responses of a decoupled model that were the first of their request, or the second, and so on.
 * Times are totals in nanoseconds.
 *
 * @param computeInferNanos from the response before, or from the start of the run, until the engine had this one
 * @param computeOutputNanos placing outputs and handing them over
 * @param successCount responses with outputs
 * @param fail failures instead of a response, and the time from the response before
 * @param empty ends without one more response, and the time from the response before
 * @param cancel responses that nobody wanted any more, and the time from the response before until that was known
 */
public record ResponseStatistics(
        long computeInferNanos, long computeOutputNanos, long successCount, Total fail, Total empty, Total cancel) {
    /** Of no response. */
    public static final ResponseStatistics NONE = new ResponseStatistics(0, 0, 0, Total.NONE, Total.NONE, Total.NONE);

    /**
     * A number of responses, and their time.
     *
     * @param count how many
     * @param nanos how long they took together
     */
    public record Total(long count, long nanos) {
        /** Of none. */
        public static final Total NONE = new Total(0, 0);

        private Total plus(Total other) {
            return new Total(count + other.count, nanos + other.nanos);
        }
    }

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
                fail.plus(other.fail),
                empty.plus(other.empty),
                cancel.plus(other.cancel));
    }
}
