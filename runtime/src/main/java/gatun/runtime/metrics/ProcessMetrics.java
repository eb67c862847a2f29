// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The families of the process, under Prometheus' usual names; what this system does not tell is left out. */
public final class ProcessMetrics implements MetricSource {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MILLIS_PER_SECOND = 1e3;
    private static final long BYTES_PER_KIB = 1024;

    private final Path status;

    /** The process as the kernel's files in {@code proc} tell of it. */
    public ProcessMetrics(Path proc) {
        this.status = proc.resolve("self/status");
    }

    @Override
    public void publish(MetricSink sink) {
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            sink.add(
                    MetricFamily.counter(
                            "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
                    system.getProcessCpuTime() / NANOS_PER_SECOND);
            if (system instanceof UnixOperatingSystemMXBean unix) {
                sink.add(MetricFamily.gauge("process_open_fds", "Number of open file descriptors."), (double)
                        unix.getOpenFileDescriptorCount());
                sink.add(MetricFamily.gauge("process_max_fds", "Maximum number of open file descriptors."), (double)
                        unix.getMaxFileDescriptorCount());
            }
        }
        sink.add(
                MetricFamily.gauge(
                        "process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
                ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND);
        List<String> lines = lines();
        bytes(lines, "VmSize:")
                .ifPresent(size -> sink.add(
                        MetricFamily.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes."),
                        (double) size));
        bytes(lines, "VmRSS:")
                .ifPresent(size -> sink.add(
                        MetricFamily.gauge("process_resident_memory_bytes", "Resident memory size in bytes."),
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
