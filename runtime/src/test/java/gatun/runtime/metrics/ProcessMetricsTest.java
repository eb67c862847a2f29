// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMetricsTest {
    @TempDir
    Path proc;

    private Optional<Double> value(String name) {
        return MetricLines.of(new ProcessMetrics(proc)).stream()
                .filter(line -> line.startsWith(name + "{} "))
                .map(line -> Double.parseDouble(line.substring(name.length() + 3)))
                .findFirst();
    }

    @Test
    void shouldReadTheMemoryThatTheKernelTells() throws IOException {
        Files.createDirectory(proc.resolve("self"));
        Files.writeString(proc.resolve("self/status"), """
                Name:\tjava
                VmPeak:\t 9000000 kB
                VmSize:\t 8388608 kB
                VmRSS:\t  123456 kB
                """);
        assertThat(value("process_virtual_memory_bytes")).contains(8388608.0 * 1024);
        assertThat(value("process_resident_memory_bytes")).contains(123456.0 * 1024);
    }

    @Test
    void shouldLeaveOutWhatItDoesNotTell() {
        assertThat(value("process_resident_memory_bytes")).isEmpty();
        assertThat(value("process_open_fds")).isPresent();
        double started = value("process_start_time_seconds").orElseThrow();
        assertThat(started).isBetween(1.7e9, System.currentTimeMillis() / 1e3);
    }
}
