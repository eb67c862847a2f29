// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    List<MetricSnapshot> read() {
        List<MetricSnapshot> families = new ArrayList<>();
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            families.add(seconds(
                    "process_cpu_seconds",
                    "Total user and system CPU time spent in seconds.",
                    system.getProcessCpuTime() / NANOS_PER_SECOND));
            if (system instanceof UnixOperatingSystemMXBean unix) {
                families.add(MetricsPage.gauge("process_open_fds", "Number of open file descriptors.", (double)
                        unix.getOpenFileDescriptorCount()));
                families.add(MetricsPage.gauge("process_max_fds", "Maximum number of open file descriptors.", (double)
                        unix.getMaxFileDescriptorCount()));
            }
        }
        families.add(MetricsPage.gauge(
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND));
        List<String> lines = lines();
        bytes(lines, "VmSize:")
                .ifPresent(size -> families.add(MetricsPage.gauge(
                        "process_virtual_memory_bytes", "Virtual memory size in bytes.", (double) size)));
        bytes(lines, "VmRSS:")
                .ifPresent(size -> families.add(MetricsPage.gauge(
                        "process_resident_memory_bytes", "Resident memory size in bytes.", (double) size)));
        return families;
    }

    /** A counter of seconds, to whose name both formats add {@code _total}. */
    static MetricSnapshot seconds(String name, String help, double value) {
        return CounterSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value(value)
                        .build())
                .build();
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
