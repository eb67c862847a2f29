// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The outcomes of the responses of a decoupled model that were the first of their request, or the second, and so on.
 *
 * @param computeInfer from the response before, or from the start of the run, until the engine had this one, a failure
 *     in its place, or nothing more
 * @param computeOutput placing outputs, and handing a response or a failure over
 * @param success responses
 * @param fail failures instead of a response
 * @param empty ends without one more response
 * @param cancel responses that nobody wanted any more, and the time from the response before until that was known
 */
public record ResponseStatistics(
        Total computeInfer, Total computeOutput, Total success, Total fail, Total empty, Total cancel) {
    /** Of no response. */
    public static final ResponseStatistics NONE =
            new ResponseStatistics(Total.NONE, Total.NONE, Total.NONE, Total.NONE, Total.NONE, Total.NONE);

    /** A number of responses, and the nanoseconds that they took together. */
    public record Total(long count, long nanos) {
        /** Of none. */
        public static final Total NONE = new Total(0, 0);

        private Total plus(Total other) {
            return new Total(count + other.count, nanos + other.nanos);
        }
    }

    /** The sum of both. */
    public ResponseStatistics plus(ResponseStatistics other) {
        return new ResponseStatistics(
                computeInfer.plus(other.computeInfer),
                computeOutput.plus(other.computeOutput),
                success.plus(other.success),
                fail.plus(other.fail),
                empty.plus(other.empty),
                cancel.plus(other.cancel));
    }
}
