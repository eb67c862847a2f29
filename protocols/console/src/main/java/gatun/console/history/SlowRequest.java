// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

/**
 * One of the slowest requests: of the client's data there is nothing but sizes, and its own name for the request. Times
 * are in nanoseconds.
 *
 * @param number of the record, which no other has
 * @param requestId the client's name for the request, or its beginning; empty for none
 * @param atMillis when it began, in milliseconds since 1970
 * @param batchSize the items of the largest run that answered it, those of other requests included
 * @param bytesIn bytes of its body or messages; negative where nobody knows
 * @param totalNanos from its head to the end of the response
 * @param traceId empty for none
 */
public record SlowRequest(
        long number,
        String requestId,
        long atMillis,
        String protocol,
        String transport,
        int batchSize,
        long bytesIn,
        long bytesOut,
        long totalNanos,
        Stages stages,
        String traceId) {
    /** The most characters of the client's name for a request. */
    static final int ID_LIMIT = 64;

    /**
     * The stages of a request, one after the other. Those in the middle are sums over all models that worked for it,
     * and longer than the request was where they worked side by side.
     *
     * @param read until the inference began
     * @param queue waiting for instances
     * @param computeInput preparing inputs
     * @param computeInfer in engines
     * @param computeOutput placing outputs
     * @param write from the end of the inference on; 0 for a lane
     */
    public record Stages(long read, long queue, long computeInput, long computeInfer, long computeOutput, long write) {}
}
