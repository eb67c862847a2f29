// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend.Option;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The Python of models that bring none, and an instance's most bytes of requests, and of responses, at a time. */
record Settings(String executable, long memoryByteSize) {
    private static final String EXECUTABLE = "executable";
    private static final String MEMORY = "memory-byte-size";

    static final List<Option> OPTIONS = List.of(
            new Option(EXECUTABLE, "The Python that runs models which bring none of their own."),
            new Option(MEMORY, "The most bytes of requests, and of responses, that one instance may have at a time."));

    /** Triton's own, which have no meaning here: memory needs no growth, and a start no limit of time. */
    private static final Set<String> WITHOUT_EFFECT = Set.of(
            "shm-default-byte-size",
            "shm-growth-byte-size",
            "shm-region-prefix-name",
            "stub-timeout-seconds",
            "thread_pool_size",
            "default-max-batch-size");

    private static final long STANDARD_MEMORY = 1L << 30;
    private static final long LEAST_MEMORY = 1L << 20;
    private static final long MOST_MEMORY = 1L << 40;

    /** The options. Throws {@link GatunException} INVALID_ARGUMENT for an option that is unknown or wrong. */
    static Settings of(String backend, Map<String, String> options) {
        Set<String> unknown = new TreeSet<>(options.keySet());
        unknown.removeAll(Set.of(EXECUTABLE, MEMORY));
        unknown.removeAll(WITHOUT_EFFECT);
        if (!unknown.isEmpty()) {
            throw GatunException.invalidArgument("backend " + backend + " has no option '"
                    + String.join("', '", unknown) + "'; it has " + EXECUTABLE + " and " + MEMORY);
        }
        return new Settings(options.getOrDefault(EXECUTABLE, "python3"), memory(backend, options.get(MEMORY)));
    }

    private static long memory(String backend, @Nullable String value) {
        if (value == null) {
            return STANDARD_MEMORY;
        }
        try {
            long byteSize = Long.parseLong(value);
            if (byteSize >= LEAST_MEMORY && byteSize <= MOST_MEMORY) {
                return byteSize;
            }
        } catch (NumberFormatException e) {
            // Told below, as any other that does not fit.
        }
        throw GatunException.invalidArgument("option " + MEMORY + " of backend " + backend + " is '" + value
                + "': expected a number of bytes from " + LEAST_MEMORY + " to " + MOST_MEMORY);
    }
}
