// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Map;

/**
 * The models of the server that a {@link Backend} is part of, for models that ask others or load them. Requests made
 * here meet the same queues, batches and limits as those of clients. Safe for any thread; all calls but
 * {@link #isReady} wait, and are for threads that may.
 */
public interface ModelServer {
    /**
     * Has a model answer a request, and returns when it has.
     *
     * @param responses takes the responses, on the calling thread: one, or any number from a decoupled model
     * @throws gatun.memory.tensor.GatunException when the request is wrong, refused or failed; responses may have come
     *     before
     */
    void infer(ModelCall call, ModelCall.Responses responses);

    /**
     * Loads a model, or loads it anew; returns when its versions are ready.
     *
     * @param configuration its configuration as JSON, empty for that of the repository
     * @param files files to take instead of the repository's, by their path in the model's folder; none for those of the
     *     repository. Not to be changed before this returns
     * @throws gatun.memory.tensor.GatunException when that is not possible
     */
    void load(String model, String configuration, Map<String, MemorySegment> files);

    /**
     * Unloads a model.
     *
     * @param dependents whether to unload also the models that only it needed
     * @throws gatun.memory.tensor.GatunException when that is not possible
     */
    void unload(String model, boolean dependents);

    /**
     * Whether a version of a model answers now.
     *
     * @param version in decimal; empty for any
     */
    boolean isReady(String model, String version);

    /**
     * A new folder for files of the backend, among the system's temporary ones, which only the server's user can read.
     * It goes with the server, however that ends.
     *
     * @throws gatun.memory.tensor.GatunException UNAVAILABLE when the system refuses
     */
    Path newFolder();

    /** The metrics that models make themselves, on the page of the server's own. */
    ModelMetrics metrics();
}
