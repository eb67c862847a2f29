// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.ResponseReceiver;
import gatun.runtime.ModelVersion;
import gatun.runtime.VersionCounters;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A served model version: a backend's instances, or other models. Thread-safe; refuses requests once closed. */
public interface ServedModel extends ModelVersion, VersionCounters {
    /**
     * Answers a request; parks the calling thread. The caller owns the response, and the request, which it closes.
     * Throws when it is wrong, refused or failed; UNSUPPORTED when this is decoupled.
     */
    InferenceResponse infer(InferenceRequest request);

    /**
     * Answers a request with as many responses as there are: one, unless decoupled. Parks the calling thread, which
     * calls {@code receiver}. The caller owns the request, and closes it. Throws as {@link #infer(InferenceRequest)},
     * perhaps after responses, and what the receiver throws.
     */
    default void infer(InferenceRequest request, ResponseReceiver receiver) {
        receiver.accept(infer(request), true);
    }

    @Override
    default int instanceCount() {
        return ModelVersion.super.instanceCount();
    }

    /** Notes how long loading took, for the statistics. */
    void loadTime(Duration time);

    @Override
    List<String> labels(String output);

    /** Whether requests of the same correlation id are ordered: by this, or by a model that it asks. */
    default boolean keepsSequences() {
        return config().hasSequenceBatching();
    }

    /** The names of the models that this one asks, without repetition; empty for a model that runs on a backend. */
    default List<String> dependencies() {
        return List.of();
    }

    /** The models behind its responses: while they are the same objects, equal requests get equal responses. */
    default List<ServedModel> sources() {
        return List.of(this);
    }

    /** A stable hash of all that responses depend on beside the request; empty if unused or a member is missing. */
    default Optional<byte[]> fingerprint() {
        return Optional.empty();
    }

    /**
     * Changes the instances to those of {@code config}, as complete as {@link #config}, while requests go on: opens and
     * warms up new ones, then ends others when their runs or sequences are over. Engine and counters stay. False, and
     * nothing changes, when more would have to; throws, likewise, when an instance cannot be made. One caller at a
     * time.
     */
    default boolean adjustInstances(ModelConfig config) {
        return false;
    }

    /** Refuses new requests from now on; accepted ones are answered. Does not wait. May be called again. */
    void drain();

    /** Whether a model that it asks has changed, so that it must be loaded anew from its own files. */
    default boolean outdated() {
        return false;
    }

    /** Why it cannot answer now although nobody closed it: because of a model that it asks; empty when it can. */
    default Optional<String> unavailability() {
        return Optional.empty();
    }

    /**
     * Refuses new requests, and accepted ones that still wait when the grace is over; lets others finish, and gives up
     * all memory. False when a run does not finish in time: its objects stay open, and this may be called again.
     */
    boolean close(Duration grace);
}
