// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import gatun.runtime.metrics.HostUsage.Use;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostUsageTest {
    private static final Duration INTERVAL = Duration.ofSeconds(2);

    @TempDir
    private Path proc;

    private final AtomicLong clock = new AtomicLong(-5);

    @BeforeEach
    void memory() throws IOException {
        Files.writeString(proc.resolve("meminfo"), """
                MemTotal:          1000 kB
                MemFree:             10 kB
                MemAvailable:       400 kB
                """);
    }

    private void ticks(long user, long idle, long ioWait, long guest) throws IOException {
        Files.writeString(
                proc.resolve("stat"),
                "cpu  " + user + " 0 0 " + idle + " " + ioWait + " 0 0 0 " + guest + " 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n");
    }

    private HostUsage usage() {
        return new HostUsage(proc, INTERVAL, clock::get);
    }

    @Test
    void shouldTellTheShareOfWorkSinceTheReadingBefore() throws IOException {
        ticks(100, 900, 0, 100);
        HostUsage usage = usage();
        ticks(130, 960, 10, 130);

        Use first = usage.latest().orElseThrow();
        assertThat(first.cpu()).isCloseTo(0.3, within(1e-9));
        assertThat(first.memoryBytes()).isEqualTo(1000 * 1024);
        assertThat(first.usedBytes()).isEqualTo(600 * 1024);

        clock.addAndGet(INTERVAL.toNanos());
        ticks(230, 960, 10, 130);
        assertThat(usage.latest().orElseThrow().cpu()).isEqualTo(1);
    }

    @Test
    void shouldNotReadAgainBeforeTheIntervalIsOver() throws IOException {
        ticks(100, 900, 0, 0);
        HostUsage usage = usage();
        ticks(150, 950, 0, 0);
        Use first = usage.latest().orElseThrow();
        ticks(1_000_000, 950, 0, 0);
        clock.addAndGet(INTERVAL.toNanos() - 1);

        assertThat(usage.latest()).contains(first);
    }

    @Test
    void shouldTellNothingWhereTheKernelDoesNot() throws IOException {
        assertThat(usage().latest()).isEmpty();

        ticks(100, 900, 0, 0);
        Files.writeString(proc.resolve("meminfo"), "MemTotal:  1000 kB\n");
        assertThat(usage().latest()).isEmpty();
    }

    @Test
    void shouldReadThisMachine() {
        Use use = new HostUsage(Path.of("/proc"), INTERVAL, System::nanoTime)
                .latest()
                .orElseThrow();

        assertThat(use.cpu()).isBetween(0.0, 1.0);
        assertThat(use.usedBytes()).isPositive().isLessThan(use.memoryBytes());
    }
}
