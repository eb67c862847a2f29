// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.ClientRegions;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.server.settings.ServerSettings.DevicePoolLimit;
import gatun.server.settings.ServerSettings.MemorySettings;
import gatun.server.settings.ServerSettings.ResponseCacheSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Native memory. Read once. */
final class MemoryFlags extends OverlayFlags<MemorySettings> {
    private static final String LOCAL = "local";
    private static final String LOCAL_CACHE = "local,size=BYTES, such as local,size=67108864";

    private final Flag<Long> bufferPoolByteSize = flag(
            "--buffer-pool-byte-size",
            FlagType.BYTE_SIZE_OR_NONE,
            0L,
            "The most bytes of native memory that requests and responses may occupy at a time; 0 for a quarter of"
                    + " the memory of the machine or container.");
    private final Flag<Long> pinnedByteSize = flag(
            "--pinned-memory-pool-byte-size",
            FlagType.BYTE_SIZE_OR_NONE,
            standard.pinnedByteSize(),
            "How many bytes of that memory are locked for copies to and from GPUs, where there are some; 0 for"
                    + " none.");
    private final Flag<List<DevicePoolLimit>> devicePools = several(
            "--cuda-memory-pool-byte-size",
            FlagType.of("GPU:BYTES", new DevicePoolFlag()::convert),
            "The most bytes of a GPU's memory that requests may occupy at a time; all of it unless this"
                    + " is given. May be given once for each GPU.");
    private final Flag<Boolean> clientSharedMemory = yesOrNo(
            "--allow-client-shm",
            standard.clientMemory().registration(),
            "Whether clients may register shared memory; allow it only where every process of this machine that"
                    + " reaches the server may share memory with it.");
    private final Flag<Boolean> remoteClientSharedMemory = yesOrNo(
            "--allow-remote-client-shm",
            standard.clientMemory().otherMachines(),
            "Whether clients on other machines, and those whose requests come through a proxy, may do with shared memory"
                    + " what clients on this machine may: where clients run in another network namespace of this"
                    + " machine.");
    private final Flag<Boolean> trustedClients = yesOrNo(
            "--trust-client-shm",
            standard.trustedClients(),
            "Whether engines read and write all tensors but strings where clients put them. A client that changes one during a"
                    + " run can then read other clients' tensors or end the server; without this, tensors that allow"
                    + " that are copied first.");
    private final Flag<List<NamedOption>> cacheOptions = several(
            "--cache-config",
            NamedOption.OF_CACHE,
            "Remember the responses of models whose configuration enables response_cache: local,size=BYTES in at"
                    + " most this many bytes of native memory, redis,host=HOST with redis,port=PORT in a Redis server that"
                    + " several servers share; once for each option.");

    private final Flag<Optional<Long>> olderCacheByteSize =
            hidden("--response-cache-byte-size", FlagType.BYTE_SIZE_OR_NONE);

    MemoryFlags(MemorySettings standard) {
        super(standard);
    }

    /** Throws {@link FlagException} when the flags of {@code spec}'s command contradict each other. */
    MemorySettings settings() {
        if (!cacheOptions.value().isEmpty() && olderCacheByteSize.value().isPresent()) {
            throw new FlagException("Incompatible flags " + olderCacheByteSize.name() + " and " + cacheOptions.name()
                    + " both provided. Please provide one or the other.");
        }
        Optional<ResponseCacheSettings> older =
                olderCacheByteSize.value().filter(byteSize -> byteSize > 0).map(ResponseCacheSettings.Local::new);
        return new MemorySettings(
                bufferPoolByteSize.value() == 0 ? standard.bufferPoolByteSize() : bufferPoolByteSize.value(),
                pinnedByteSize.value(),
                new ClientRegions.Rules(clientSharedMemory.value(), remoteClientSharedMemory.value()),
                trustedClients.value(),
                cache().or(() -> older).or(standard::responseCache),
                devicePools.value());
    }

    private Optional<ResponseCacheSettings> cache() {
        Map<String, Map<String, String>> caches = NamedOption.byOwner(cacheOptions.value());
        if (caches.size() > 1) {
            throw new FlagException("multiple cache configurations are not supported: " + cacheOptions.name()
                    + " names " + String.join(" and ", new TreeSet<>(caches.keySet())) + "; choose one of them");
        }
        return caches.entrySet().stream().findFirst().map(cache -> {
            if (!cache.getKey().equals(LOCAL)) {
                return new ResponseCacheSettings.Shared(cache.getKey(), cache.getValue());
            }
            try {
                return localCache(cache.getValue());
            } catch (FlagException e) {
                throw new FlagException(cacheOptions.name() + ": " + e.getMessage());
            }
        });
    }

    private static ResponseCacheSettings localCache(Map<String, String> options) {
        if (!options.keySet().equals(Set.of("size"))) {
            throw new FlagException(
                    LOCAL + "," + String.join(",", new TreeSet<>(options.keySet())) + " is not " + LOCAL_CACHE);
        }
        return new ResponseCacheSettings.Local(
                FlagType.number(options.getOrDefault("size", ""), 1, Long.MAX_VALUE, LOCAL_CACHE));
    }
}
