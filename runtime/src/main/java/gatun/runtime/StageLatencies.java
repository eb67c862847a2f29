// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How long the answered requests of one origin took, by stage; each request counts once in each.
 *
 * @param request from arrival in the runtime to the response
 * @param queue waiting for an instance
 * @param computeInput preparing inputs, as long as that took for the whole batch that the request was in; so with the
 *     next two
 * @param computeInfer in the engine
 * @param computeOutput placing outputs
 * @param firstResponse from arrival to the first response of a decoupled model; empty for others
 */
public record StageLatencies(
        Latencies request,
        Latencies queue,
        Latencies computeInput,
        Latencies computeInfer,
        Latencies computeOutput,
        Latencies firstResponse) {
    /** Of no request. */
    public static final StageLatencies NONE = new StageLatencies(
            Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE, Latencies.NONE);

    /** The latencies of both. */
    public StageLatencies plus(StageLatencies other) {
        return new StageLatencies(
                request.plus(other.request),
                queue.plus(other.queue),
                computeInput.plus(other.computeInput),
                computeInfer.plus(other.computeInfer),
                computeOutput.plus(other.computeOutput),
                firstResponse.plus(other.firstResponse));
    }
}
