// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.List;

/**
 * What a model version has counted since it was loaded. Times are totals in nanoseconds.
 *
 * @param name the model
 * @param version the version in decimal
 * @param successCount requests answered, from the cache too
 * @param inferenceCount inferences: a request of batch n that the engine has answered counts n
 * @param failureRejected requests refused by the queue
 * @param failureCanceled requests that the client gave up
 * @param failureBackend requests that the engine failed
 * @param failureOther requests that failed otherwise
 * @param requestNanos from arrival in the runtime to the answer
 * @param failureNanos from arrival in the runtime to the failure
 * @param queueNanos answered requests waiting for an instance
 * @param computeInputNanos preparing inputs; an execution counts once for each request that it answered, also in the next two
 * @param computeInferNanos in the engine
 * @param computeOutputNanos placing outputs
 * @param lastInferenceMillis when the latest execution ended, in milliseconds since 1970; 0 when there was none
 * @param batches the executions by batch size, ascending; only sizes that were executed
 * @param pendingRequestCount requests waiting now
 * @param loadNanos how long loading took
 * @param cache how often the response cache helped
 * @param responses of a decoupled model, by their place in the answer; empty for others
 * @param requests the requests that the engine answered by their batch size, ascending; only sizes that there were
 */
public record ModelStatistics(
        String name,
        String version,
        long successCount,
        long inferenceCount,
        long failureRejected,
        long failureCanceled,
        long failureBackend,
        long failureOther,
        long requestNanos,
        long failureNanos,
        long queueNanos,
        long computeInputNanos,
        long computeInferNanos,
        long computeOutputNanos,
        long lastInferenceMillis,
        List<BatchStatistics> batches,
        long pendingRequestCount,
        long loadNanos,
        CacheStatistics cache,
        List<ResponseStatistics> responses,
        List<RequestStatistics> requests) {
    /** Counts that nobody changes any more. */
    public ModelStatistics {
        batches = List.copyOf(batches);
        responses = List.copyOf(responses);
        requests = List.copyOf(requests);
    }

    /** Requests that were answered by the engine. */
    public long computedCount() {
        return successCount - cache.hitCount();
    }

    /** Requests that were not answered, for whatever reason. */
    public long failureCount() {
        return failureRejected + failureCanceled + failureBackend + failureOther;
    }

    /** Runs of the engine. */
    public long executionCount() {
        return batches.stream().mapToLong(BatchStatistics::executionCount).sum();
    }
}
