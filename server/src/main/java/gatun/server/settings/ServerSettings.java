// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.protocol.ClientRegions;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.ServerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Everything that the operator decided about one server. {@code id} is its name in its metadata. */
public record ServerSettings(
        String id,
        LifecycleSettings lifecycle,
        ServedModelSettings models,
        MemorySettings memory,
        ListenerSettings listeners,
        ClientSettings clients,
        TracingSettings tracing) {
    private static final String EMBEDDED_NAME = "gatun";

    /** The defaults, which are those of Triton, and no models. */
    public static ServerSettings standard() {
        return new ServerSettings(
                ServerMetadata.STANDARD_NAME,
                LifecycleSettings.STANDARD,
                ServedModelSettings.STANDARD,
                MemorySettings.STANDARD,
                ListenerSettings.standard(),
                ClientSettings.standard(),
                TracingSettings.OFF);
    }

    /**
     * The standard settings of a server in another program: the models of one repository, no listener, and Gatun's own
     * name, since no client of Triton's asks for it.
     */
    public static ServerSettings embedded(Path repository) {
        ServerSettings standard = standard();
        return new ServerSettings(
                EMBEDDED_NAME,
                standard.lifecycle,
                standard.models.withRepositories(List.of(repository)),
                standard.memory,
                standard.listeners.embedded(),
                standard.clients,
                standard.tracing);
    }

    /** The same with other models. */
    public ServerSettings with(ServedModelSettings other) {
        return new ServerSettings(id, lifecycle, other, memory, listeners, clients, tracing);
    }

    /**
     * How the server says that it is ready, and how it stops.
     *
     * @param readyFile the file to write the real addresses to once the server is ready; empty for none
     * @param exitTimeout how long requests may take to finish after the server was told to stop
     * @param drain how long the server goes on serving, without being ready, after it was told to stop; zero for not at
     *     all
     * @param warmUp how long the server may warm its own code up before it is ready; zero for not at all
     */
    public record LifecycleSettings(Optional<Path> readyFile, Duration exitTimeout, Duration drain, Duration warmUp) {
        /** Requests have half a minute to finish. */
        public static final LifecycleSettings STANDARD = new LifecycleSettings(
                Optional.empty(), ServerOptions.DEFAULT_EXIT_TIMEOUT, Duration.ZERO, Duration.ZERO);
    }

    /**
     * The limits of native memory.
     *
     * @param bufferPoolByteSize the most bytes that requests and responses may occupy at a time
     * @param pinnedByteSize how many of them are locked in memory for copies to and from GPUs, where there are some
     * @param clientMemory what clients may do with shared memory
     * @param trustedClients whether engines read and write all tensors where clients put them
     * @param responseCache the cache of responses; empty for none
     * @param devicePools the limits of single GPUs' memory; other GPUs have none
     */
    public record MemorySettings(
            long bufferPoolByteSize,
            long pinnedByteSize,
            ClientRegions.Rules clientMemory,
            boolean trustedClients,
            Optional<ResponseCacheSettings> responseCache,
            List<DevicePoolLimit> devicePools) {
        /** A buffer pool of a quarter of the memory, of which 256 MiB are locked for GPUs, and no shared memory. */
        public static final MemorySettings STANDARD = new MemorySettings(
                ProcessMemory.poolByteSize(),
                256L << 20,
                ClientRegions.Rules.STANDARD,
                false,
                Optional.empty(),
                List.of());

        /** Keeps a copy of the limits. */
        public MemorySettings {
            devicePools = List.copyOf(devicePools);
        }
    }

    /** The most bytes that the server may take of GPU {@code gpu} at a time. */
    public record DevicePoolLimit(int gpu, long byteSize) {}

    /** Where responses of models are kept whose configuration asks for that. */
    public sealed interface ResponseCacheSettings {
        /** In this server's memory. {@code byteSize}, at least 1, is the most bytes of native memory for them. */
        record Local(long byteSize) implements ResponseCacheSettings {}

        /** In a store that servers share. {@code kind}, such as {@code redis}, reads the options. */
        record Shared(String kind, Map<String, String> options) implements ResponseCacheSettings {
            /** Keeps a copy of the options. */
            public Shared {
                options = Map.copyOf(options);
            }

            /** Without the values of the options, among which are passwords. */
            @Override
            public String toString() {
                return "Shared[kind=" + kind + ", options=" + options.keySet() + "]";
            }
        }
    }
}
