// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Everything that the operator decided about one server.
 *
 * @param id the name that the server gives itself in its metadata
 * @param lifecycle how the server says that it is ready, and how it stops
 * @param models what to serve
 * @param memory what memory may be used
 * @param listeners where requests are taken, and metrics shown
 * @param clients what clients may do
 * @param tracing which requests are traced
 */
public record ServerSettings(
        String id,
        LifecycleSettings lifecycle,
        ModelSettings models,
        MemorySettings memory,
        ListenerSettings listeners,
        ClientSettings clients,
        TracingSettings tracing) {
    /**
     * How the server says that it is ready, and how it stops.
     *
     * @param readyFile where to write the real addresses once the server is ready; empty for nowhere
     * @param exitTimeout how long requests may take to finish after the server was told to stop
     * @param drain how long the server goes on serving, without being ready, after it was told to stop; zero for not at
     *     all
     */
    public record LifecycleSettings(Optional<Path> readyFile, Duration exitTimeout, Duration drain) {}

    /**
     * What native memory may be used.
     *
     * @param bufferPoolByteSize the most bytes that requests and responses may occupy at a time
     * @param clientSharedMemory whether clients may register shared memory
     * @param responseCacheByteSize the most bytes that remembered responses may take; 0 for remembering none
     * @param devicePools how much of single GPUs' memory may be taken; of the others all
     */
    public record MemorySettings(
            long bufferPoolByteSize,
            boolean clientSharedMemory,
            long responseCacheByteSize,
            List<DevicePoolLimit> devicePools) {
        /** Keeps a copy of the limits. */
        public MemorySettings {
            devicePools = List.copyOf(devicePools);
        }
    }
}
