// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.List;
import java.util.Optional;

/**
 * The counters of a model version since it was loaded. Times are totals in nanoseconds.
 *
 * @param model the model
 * @param version the version in decimal
 * @param totals of all requests
 * @param batches the executions by batch size, ascending; only sizes that were executed
 * @param responses of a decoupled model, by their place among the responses to a request; empty for others
 * @param requests the requests that the engine answered by their batch size, ascending; only sizes that there were
 * @param cached how often the response cache helped; empty for a version whose responses are not cached
 */
public record ModelStatistics(
        ModelIdentifier model,
        String version,
        Totals totals,
        List<BatchStatistics> batches,
        List<ResponseStatistics> responses,
        List<RequestStatistics> requests,
        Optional<CacheStatistics> cached) {
    /** Counts that nobody changes any more. */
    public ModelStatistics {
        batches = List.copyOf(batches);
        responses = List.copyOf(responses);
        requests = List.copyOf(requests);
    }

    /** The counters of a model outside of any namespace. */
    public ModelStatistics(
            String name,
            String version,
            Totals totals,
            List<BatchStatistics> batches,
            List<ResponseStatistics> responses,
            List<RequestStatistics> requests,
            Optional<CacheStatistics> cached) {
        this(ModelIdentifier.of(name), version, totals, batches, responses, requests, cached);
    }

    /** The same counters of the model with that identity. */
    public ModelStatistics of(ModelIdentifier identifier) {
        return new ModelStatistics(identifier, version, totals, batches, responses, requests, cached);
    }

    /** The same with the requests that the response cache answered or failed in the version's place. */
    public ModelStatistics withCache(CacheStatistics cache, long failedCount, long failedNanos) {
        Failures failed = totals.failures;
        StageNanos nanos = totals.nanos;
        return new ModelStatistics(
                model,
                version,
                new Totals(
                        totals.successCount + cache.hitCount,
                        totals.inferenceCount,
                        new Failures(
                                failed.rejected,
                                failed.canceled,
                                failed.backend,
                                failed.other + failedCount,
                                failed.nanos + failedNanos),
                        new StageNanos(
                                nanos.request + cache.hitNanos,
                                nanos.queue,
                                nanos.computeInput,
                                nanos.computeInfer,
                                nanos.computeOutput),
                        totals.lastInferenceMillis,
                        totals.occupancy,
                        totals.loadNanos),
                batches,
                responses,
                requests,
                Optional.of(cache));
    }

    /** The model's name. */
    public String name() {
        return model.name();
    }

    /**
     * Totals of all requests.
     *
     * @param successCount requests answered, from the cache too
     * @param inferenceCount inferences: a request of batch n that the engine has answered counts n
     * @param failures requests that were not answered
     * @param nanos how long the answered ones took
     * @param lastInferenceMillis when the latest execution ended, in milliseconds since 1970; 0 when there was none
     * @param occupancy what waits and runs now
     * @param loadNanos how long loading the model took
     */
    public record Totals(
            long successCount,
            long inferenceCount,
            Failures failures,
            StageNanos nanos,
            long lastInferenceMillis,
            Occupancy occupancy,
            long loadNanos) {
        /** Requests waiting now. */
        public long pendingRequestCount() {
            return occupancy.pendingRequestCount();
        }
    }

    /** How busy a version is at one moment: requests that wait, and instances that run something. */
    public record Occupancy(long pendingRequestCount, int busyInstanceCount) {
        /** Nothing waits, and nothing runs. */
        public static final Occupancy NONE = new Occupancy(0, 0);
    }

    /**
     * Requests not answered: refused by the queue, given up by their clients, failed by the engine or otherwise;
     * {@code nanos} from arrival in the runtime to the failure.
     */
    public record Failures(long rejected, long canceled, long backend, long other, long nanos) {}

    /**
     * How long the answered requests took: from arrival in the runtime to the response, waiting for an instance,
     * preparing inputs, in the engine, placing outputs. In the last three an execution counts once for each request
     * that it answered.
     */
    public record StageNanos(long request, long queue, long computeInput, long computeInfer, long computeOutput) {}

    /** How often the response cache helped; never where responses are not cached. */
    public CacheStatistics cache() {
        return cached.orElse(CacheStatistics.NONE);
    }

    /** Requests answered, from the cache too. */
    public long successCount() {
        return totals.successCount();
    }

    /** Requests that were answered by the engine. */
    public long computedCount() {
        return successCount() - cache().hitCount();
    }

    /** Requests that were not answered, for whatever reason. */
    public long failureCount() {
        Failures failures = totals.failures();
        return failures.rejected() + failures.canceled() + failures.backend() + failures.other();
    }

    /** Runs of the engine. */
    public long executionCount() {
        long sum = 0;
        for (BatchStatistics batch : batches) {
            sum += batch.executionCount();
        }
        return sum;
    }

    /**
     * A version's executions of one batch size since it was loaded; 1 also where the model has no batch dimension.
     * Total nanoseconds of preparing inputs, in the engine, and placing outputs.
     */
    public record BatchStatistics(
            int batchSize,
            long executionCount,
            long computeInputNanos,
            long computeInferNanos,
            long computeOutputNanos) {
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

    /**
     * A version's hits and misses in the response cache since it was loaded. Total nanoseconds of looking up, and of
     * making the responses for hits, storing them for misses.
     */
    public record CacheStatistics(long hitCount, long hitNanos, long missCount, long missNanos) {
        /** Of a version whose responses are not cached. */
        public static final CacheStatistics NONE = new CacheStatistics(0, 0, 0, 0);
    }

    /**
     * A version's answered requests of one batch size since it was loaded, whatever the engine was given; 1 also where
     * the model has no batch dimension. Total nanoseconds from arrival in the runtime to the response, of waiting for
     * an instance, and, for the whole batch that a request was in, of preparing inputs, in the engine and placing
     * outputs.
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
}
