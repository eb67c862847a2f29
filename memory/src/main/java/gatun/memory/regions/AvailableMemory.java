// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How much more memory this process could be given, as the kernel says. */
final class AvailableMemory {
    private static final Path SYSTEM = Path.of("/proc/meminfo");
    private static final String SYSTEM_FIELD = "MemAvailable:";
    private static final Path CGROUP_LIMIT = Path.of("/sys/fs/cgroup/memory.max");
    private static final Path CGROUP_USE = Path.of("/sys/fs/cgroup/memory.current");

    private AvailableMemory() {}

    /** The memory left to the system or the container, the lesser, in bytes; unbounded where unknown. */
    static long byteSize() {
        return Math.min(systemBytes(lines(SYSTEM)), containerBytes(lines(CGROUP_LIMIT), lines(CGROUP_USE)));
    }

    static long systemBytes(List<String> meminfo) {
        for (String line : meminfo) {
            if (line.startsWith(SYSTEM_FIELD)) {
                String[] words = line.substring(SYSTEM_FIELD.length()).strip().split(" ", 2);
                return Long.parseLong(words[0]) << 10;
            }
        }
        return Long.MAX_VALUE;
    }

    static long containerBytes(List<String> limit, List<String> use) {
        // A container without a limit has the word "max" there.
        if (limit.isEmpty() || use.isEmpty() || limit.getFirst().equals("max")) {
            return Long.MAX_VALUE;
        }
        return Math.max(0, Long.parseLong(limit.getFirst()) - Long.parseLong(use.getFirst()));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            // Not every kernel and container has it; then it sets no bound.
            return List.of();
        }
    }
}
