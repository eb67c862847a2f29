// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.GatunException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** Requests beside a model's files that are answered before it serves, after its configured ones. Thread-safe. */
@FunctionalInterface
public interface WarmUpSource {
    /** For models that have no such requests. */
    WarmUpSource NONE = (version, directory, instance) -> {};

    /**
     * Sends all requests to one new instance of a version, one after the other.
     *
     * @param version the version that is loaded, which is not ready yet
     * @param directory where its files are
     * @param instance answers a request on the calling thread and closes it, as {@code InferenceServer.infer} does;
     *     whoever calls it closes the response
     * @throws GatunException when a request cannot be read or fails; then the version is not loaded
     */
    void send(ModelVersion version, Path directory, Function<InferenceRequest, InferenceResponse> instance);

    /** The requests of all {@code sources}, one after the other. */
    static WarmUpSource of(List<WarmUpSource> sources) {
        return (version, directory, instance) -> sources.forEach(source -> source.send(version, directory, instance));
    }
}
