// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.DevicePoolLimit;
import gatun.server.settings.ServerSettings.MemorySettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Native memory. Filled by picocli, read once. */
final class MemoryFlags {
    @Option(
            names = {"--buffer-pool-byte-size", "--pinned-memory-pool-byte-size"},
            paramLabel = "BYTES",
            defaultValue = "268435456",
            converter = FlagValues.ByteSize.class,
            description = "The most bytes of native memory that requests and responses may occupy at a time."
                    + " Also called --pinned-memory-pool-byte-size.")
    long bufferPoolByteSize;

    @Option(
            names = "--cuda-memory-pool-byte-size",
            paramLabel = "GPU:BYTES",
            converter = DevicePoolFlag.class,
            description = "The most bytes of a GPU's memory that requests may occupy at a time; all of it unless this"
                    + " is given. May be given once for each GPU.")
    List<DevicePoolLimit> devicePools = new ArrayList<>();

    @Option(
            names = "--allow-client-shm",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether clients may register shared memory; allow it only where every client that"
                    + " reaches the server may share memory with it.")
    boolean clientSharedMemory;

    @Option(
            names = "--cache-config",
            paramLabel = "local,size=BYTES",
            converter = FlagValues.CacheSize.class,
            description = "Remember the responses of models whose configuration enables response_cache, in at most"
                    + " this many bytes of native memory.")
    Optional<Long> cacheByteSize = Optional.empty();

    @Option(
            names = "--response-cache-byte-size",
            hidden = true,
            paramLabel = "BYTES",
            converter = FlagValues.ByteSizeOrNone.class,
            description = "The older form of --cache-config.")
    Optional<Long> olderCacheByteSize = Optional.empty();

    /** @throws ParameterException when the flags of {@code spec}'s command contradict each other */
    MemorySettings settings(CommandSpec spec) {
        if (cacheByteSize.isPresent() && olderCacheByteSize.isPresent()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Incompatible flags --response-cache-byte-size and --cache-config both provided. Please provide one"
                            + " or the other.");
        }
        return new MemorySettings(
                bufferPoolByteSize,
                clientSharedMemory,
                cacheByteSize.or(() -> olderCacheByteSize).orElse(0L),
                devicePools);
    }
}
