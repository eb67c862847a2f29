// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.DevicePoolLimit;
import gatun.server.settings.ServerSettings.MemorySettings;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Native memory. Read once. */
final class MemoryFlags extends OverlayFlags<MemorySettings> {
    private static final String CACHE = "local,size=";

    private final Flag<Long> bufferPoolByteSize = flag(
            "--buffer-pool-byte-size --pinned-memory-pool-byte-size",
            FlagType.BYTE_SIZE_OR_NONE,
            standard.bufferPoolByteSize(),
            "The most bytes of native memory that requests and responses may occupy at a time; 0, by which"
                    + " Triton pins none, for the default. Also called --pinned-memory-pool-byte-size.");
    private final Flag<List<DevicePoolLimit>> devicePools = several(
            "--cuda-memory-pool-byte-size",
            FlagType.of("GPU:BYTES", new DevicePoolFlag()::convert),
            "The most bytes of a GPU's memory that requests may occupy at a time; all of it unless this"
                    + " is given. May be given once for each GPU.");
    private final Flag<Boolean> clientSharedMemory = yesOrNo(
            "--allow-client-shm",
            standard.clientSharedMemory(),
            "Whether clients may register shared memory; allow it only where every client that"
                    + " reaches the server may share memory with it.");
    private final Flag<Optional<Long>> cacheByteSize = optional(
            "--cache-config",
            FlagType.of(CACHE + "BYTES", MemoryFlags::cacheSize),
            "Remember the responses of models whose configuration enables response_cache, in at most"
                    + " this many bytes of native memory.");

    /** The older form of that. */
    private final Flag<Optional<Long>> olderCacheByteSize =
            hidden("--response-cache-byte-size", FlagType.BYTE_SIZE_OR_NONE);

    MemoryFlags(MemorySettings standard) {
        super(standard);
    }

    /** @throws ParameterException when the flags of {@code spec}'s command contradict each other */
    MemorySettings settings(CommandSpec spec) {
        Optional<Long> cache = cacheByteSize.value();
        if (cache.isPresent() && olderCacheByteSize.value().isPresent()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Incompatible flags " + olderCacheByteSize.name() + " and " + cacheByteSize.name()
                            + " both provided. Please provide one or the other.");
        }
        return new MemorySettings(
                bufferPoolByteSize.value() == 0 ? standard.bufferPoolByteSize() : bufferPoolByteSize.value(),
                clientSharedMemory.value(),
                cache.or(olderCacheByteSize::value).orElse(standard.responseCacheByteSize()),
                devicePools.value());
    }

    private static Long cacheSize(String value) {
        String expected = CACHE + "BYTES, such as " + CACHE + "67108864; there is no other cache than the local one";
        String number = value.startsWith(CACHE) ? value.substring(CACHE.length()) : "";
        try {
            return FlagType.number(number, 1, Long.MAX_VALUE, expected);
        } catch (TypeConversionException e) {
            throw new TypeConversionException("'" + value + "' is not " + expected);
        }
    }
}
