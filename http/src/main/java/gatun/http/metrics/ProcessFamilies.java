// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The families of the process, under the names that Prometheus' client libraries share. Read when asked; what this
 * system does not tell is left out.
 */
final class ProcessFamilies {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final long BYTES_PER_KIB = 1024;

    private final Path status;

    /** @param proc where the kernel's files are */
    ProcessFamilies(Path proc) {
        this.status = proc.resolve("self/status");
    }

    void write(PageWriter page) {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            page.add(
                    Family.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
                    system.getProcessCpuTime() / NANOS_PER_SECOND);
            if (system instanceof UnixOperatingSystemMXBean unix) {
                page.add(Family.gauge("process_open_fds", "Number of open file descriptors."), (double)
                        unix.getOpenFileDescriptorCount());
                page.add(Family.gauge("process_max_fds", "Maximum number of open file descriptors."), (double)
                        unix.getMaxFileDescriptorCount());
            }
        }
        page.add(
                Family.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
                ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND);
        List<String> lines = lines();
        bytes(lines, "VmSize:")
                .ifPresent(size -> page.add(
                        Family.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."), (double) size));
        bytes(lines, "VmRSS:")
                .ifPresent(size -> page.add(
                        Family.gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
                        (double) size));
    }

    private static Optional<Long> bytes(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .map(line -> line.substring(name.length()).strip().split(" ", -1)[0])
                .map(kibibytes -> Long.parseLong(kibibytes) * BYTES_PER_KIB);
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(status);
        } catch (IOException notTold) {
            return List.of();
        }
    }
}
