// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * How long the answered requests of a model version took since it was loaded.
 *
 * @param model the model
 * @param version the version in decimal
 * @param decoupled whether a request may have any number of responses
 * @param byOrigin the latencies of each origin from which a request came
 * @param cache how long the response cache took; empty for a version whose responses are not cached
 * @param bucketBounds the upper bounds that the configuration wants of a histogram, ascending, by the name of the
 *     metric
 */
public record ModelLatencies(
        ModelIdentifier model,
        String version,
        boolean decoupled,
        Map<Origin, StageLatencies> byOrigin,
        Optional<CacheLatencies> cache,
        Map<String, List<Double>> bucketBounds) {
    /** Latencies that nobody changes any more. */
    public ModelLatencies {
        byOrigin = Map.copyOf(byOrigin);
        bucketBounds = Map.copyOf(bucketBounds);
    }

    /** The latencies of a model outside of any namespace. */
    public ModelLatencies(
            String name,
            String version,
            boolean decoupled,
            Map<Origin, StageLatencies> byOrigin,
            Optional<CacheLatencies> cache,
            Map<String, List<Double>> bucketBounds) {
        this(ModelIdentifier.of(name), version, decoupled, byOrigin, cache, bucketBounds);
    }

    /** The same latencies of the model with that identity. */
    public ModelLatencies of(ModelIdentifier identifier) {
        return new ModelLatencies(identifier, version, decoupled, byOrigin, cache, bucketBounds);
    }

    /** The model's name. */
    public String name() {
        return model.name();
    }

    /** The same, of a version whose responses are cached. */
    public ModelLatencies withCache(CacheLatencies added) {
        return new ModelLatencies(model, version, decoupled, byOrigin, Optional.of(added), bucketBounds);
    }

    /** The latencies of all requests, wherever they came from. */
    public StageLatencies total() {
        return byOrigin.values().stream().reduce(StageLatencies.NONE, StageLatencies::plus);
    }

    /** The latencies of one stage of all requests, wherever they came from. */
    public Latencies total(Function<StageLatencies, Latencies> stage) {
        return byOrigin.values().stream().map(stage).reduce(Latencies.NONE, Latencies::plus);
    }

    /** Times of the response cache: looking up what was there or not, and making or storing the responses. */
    public record CacheLatencies(Latencies hit, Latencies miss) {}

    /**
     * Latencies of one origin's answered requests by stage, each counted once in each. Request and first response, of a
     * decoupled model only, are from arrival in the runtime; the queue is the wait for an instance. The times of
     * computing are those of the whole batch: preparing inputs, in the engine, placing outputs.
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
}
