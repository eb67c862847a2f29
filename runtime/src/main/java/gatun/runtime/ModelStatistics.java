package gatun.runtime;

/**
 * What a model version has counted since it was loaded. Times are totals in nanoseconds.
 *
 * @param name the model
 * @param version the version in decimal
 * @param successCount requests answered
 * @param failureRejected requests refused by the queue
 * @param failureCanceled requests that the client gave up
 * @param failureBackend requests that the engine failed
 * @param failureOther requests that failed otherwise
 * @param inferenceCount inferences: a request of batch n counts n
 * @param executionCount runs of the engine
 * @param requestNanos from arrival in the runtime to the answer
 * @param queueNanos waiting for an instance
 * @param computeInputNanos preparing inputs
 * @param computeInferNanos in the engine
 * @param computeOutputNanos placing outputs
 * @param pendingRequestCount requests waiting now
 * @param loadNanos how long loading took
 */
public record ModelStatistics(
        String name,
        String version,
        long successCount,
        long failureRejected,
        long failureCanceled,
        long failureBackend,
        long failureOther,
        long inferenceCount,
        long executionCount,
        long requestNanos,
        long queueNanos,
        long computeInputNanos,
        long computeInferNanos,
        long computeOutputNanos,
        long pendingRequestCount,
        long loadNanos) {}
