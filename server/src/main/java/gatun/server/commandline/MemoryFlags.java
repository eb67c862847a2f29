package gatun.server.commandline;

import gatun.server.ServerSettings.MemorySettings;
import picocli.CommandLine.Option;

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
            names = "--allow-client-shm",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether clients may register shared memory; allow it only where every client that"
                    + " reaches the server may share memory with it.")
    boolean clientSharedMemory;

    MemorySettings settings() {
        return new MemorySettings(bufferPoolByteSize, clientSharedMemory);
    }
}
