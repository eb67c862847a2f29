// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** The machine's load from {@code /proc/stat} and {@code meminfo}, read once in an interval. Thread-safe. */
public final class HostUsage implements MetricSource {
    private static final long BYTES_PER_KIB = 1024;

    private static final List<Measure<Use>> MEASURES = List.of(
            Measure.gauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", Use::cpu),
            Measure.gauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", Use::memoryBytes),
            Measure.gauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", Use::usedBytes));

    /** The numbers of the first line of {@code stat} without work: the fourth (idle) and fifth (waiting for I/O). */
    private static final int IDLE = 4;

    private static final int IO_WAIT = 5;

    /** The last number that is a share of its own: those after it (guests) are part of the first two. */
    private static final int STEAL = 8;

    private final Path proc;
    private final long intervalNanos;
    private final LongSupplier nanoClock;
    private final ReentrantLock lock = new ReentrantLock();
    private Optional<Ticks> before;
    private Optional<Use> latest = Optional.empty();
    private long readNanos;

    /** The time that all processors spent since the machine was started, in ticks of the kernel's clock. */
    private record Ticks(long idle, long total) {}

    /** How busy the machine is; {@code cpu} is the share of all processors' time since the reading before, 0 to 1. */
    record Use(double cpu, long memoryBytes, long usedBytes) {}

    /** The machine's use, read from the kernel's files in {@code proc} at most once in {@code interval}. */
    public HostUsage(Path proc, Duration interval, LongSupplier nanoClock) {
        this.proc = proc;
        this.intervalNanos = interval.toNanos();
        this.nanoClock = nanoClock;
        before = ticks();
        readNanos = nanoClock.getAsLong();
    }

    @Override
    public void publish(MetricSink sink) {
        latest().ifPresent(use -> sink.addAll(MEASURES, MetricRows.single(use)));
    }

    /** The use at the latest reading; empty where the kernel does not tell. */
    Optional<Use> latest() {
        lock.lock();
        try {
            long now = nanoClock.getAsLong();
            if (latest.isEmpty() || now - readNanos >= intervalNanos) {
                Optional<Ticks> ticks = ticks();
                latest = ticks.flatMap(this::use);
                before = ticks;
                readNanos = now;
            }
            return latest;
        } finally {
            lock.unlock();
        }
    }

    private Optional<Use> use(Ticks now) {
        Ticks then = before.orElse(new Ticks(0, 0));
        long total = now.total() - then.total();
        double cpu = total <= 0 ? 0 : 1 - Math.clamp((double) (now.idle() - then.idle()) / total, 0, 1);
        List<String> memory = lines("meminfo");
        return kibibytes(memory, "MemTotal:").flatMap(all -> kibibytes(memory, "MemAvailable:")
                .map(free -> new Use(cpu, all * BYTES_PER_KIB, (all - free) * BYTES_PER_KIB)));
    }

    private Optional<Ticks> ticks() {
        return lines("stat").stream()
                .filter(line -> line.startsWith("cpu "))
                .findFirst()
                .map(line -> line.split(" +", -1))
                .filter(fields -> fields.length > STEAL)
                .map(fields -> new Ticks(
                        Long.parseLong(fields[IDLE]) + Long.parseLong(fields[IO_WAIT]),
                        Stream.of(fields)
                                .skip(1)
                                .limit(STEAL)
                                .mapToLong(Long::parseLong)
                                .sum()));
    }

    private static Optional<Long> kibibytes(List<String> memory, String name) {
        return memory.stream()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .map(line -> Long.parseLong(line.split(" +", -1)[1]));
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(proc.resolve(file));
        } catch (IOException notTold) {
            return List.of();
        }
    }
}
