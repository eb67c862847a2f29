// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.runtime.execution.ServedModel;

/** Keeps responses of the models whose configuration asks for that. Safe for any thread. */
public sealed interface ResponseCache extends AutoCloseable permits LocalCache, RemoteCache {
    /** The responses of a model, which stay right as long as {@link ServedModel#sources} stays the same. */
    CachedResponses responses(ServedModel model);

    /** Gives up memory and connections; responses that are still being sent to clients stay valid. May be called again. */
    @Override
    void close();
}
