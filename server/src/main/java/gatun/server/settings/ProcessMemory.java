// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** This process's memory: the machine's, or its container's. From the kernel, since beans cost start time. */
final class ProcessMemory {
    /** The buffer pool's size when the memory of the machine is unknown. */
    static final long LEAST_POOL_BYTE_SIZE = 256L << 20;

    /** Tensors get a quarter; the heap, models and engines have the rest. */
    private static final int POOL_SHARE = 4;

    private static final Path SYSTEM = Path.of("/");
    private static final String MACHINE = "MemTotal:";

    private ProcessMemory() {}

    /** The default size of the buffer pool. */
    static long poolByteSize() {
        return poolByteSize(byteSize(SYSTEM));
    }

    /** The default for a process that may have {@code byteSize} bytes; 0 for unknown. */
    static long poolByteSize(long byteSize) {
        return byteSize <= 0 ? LEAST_POOL_BYTE_SIZE : byteSize / POOL_SHARE;
    }

    /** The memory in bytes by the kernel's files below {@code root}; 0 for unknown. */
    static long byteSize(Path root) {
        long least = lines(root.resolve("proc/meminfo")).stream()
                .filter(line -> line.startsWith(MACHINE))
                .mapToLong(line -> kibibytes(line.substring(MACHINE.length())) << 10)
                .findFirst()
                .orElse(0);
        for (String group : lines(root.resolve("proc/self/cgroup"))) {
            String[] parts = group.split(":", 3); // a number, the controllers, a path
            if (parts.length < 3) {
                continue;
            }
            if (parts[1].isEmpty()) {
                least = Math.min(least, limit(root.resolve("sys/fs/cgroup"), parts[2], "memory.max"));
            } else if (Arrays.asList(parts[1].split(",", -1)).contains("memory")) {
                least = Math.min(least, limit(root.resolve("sys/fs/cgroup/memory"), parts[2], "memory.limit_in_bytes"));
            }
        }
        return least;
    }

    /** The least limit of a group and those around it. In a container the path may be the host's, and only the top is there. */
    private static long limit(Path top, String group, String file) {
        long least = Long.MAX_VALUE;
        Path folder = top.resolve(group.substring(1)).normalize();
        while (folder != null && folder.startsWith(top)) {
            for (String line : lines(folder.resolve(file))) {
                least = Math.min(least, number(line));
            }
            folder = folder.getParent();
        }
        return least;
    }

    private static long kibibytes(String text) {
        return number(text.strip().split(" ", 2)[0]);
    }

    /** A number of the kernel; the greatest for {@code max} and for what is no number. */
    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    /** The lines of a file; none where it cannot be read. */
    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}
