// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bench.load.Caller;
import gatun.bench.load.Load;
import gatun.bench.load.LoadRun;
import gatun.bench.load.Measurement;
import gatun.bench.load.Measurement.MeasurementPlan;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.StoppingRule;
import gatun.bench.load.Target;
import gatun.bench.load.Window;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.LongSupplier;

/**
 * A server process under the load of {@code gatun bench}, a closed loop, and what the process spends meanwhile: its
 * processor time is the steadier figure on a machine that others use too.
 */
final class LoadedServer {
    /**
     * The measurements of one run.
     *
     * @param window what the clients measured
     * @param cpuNanos processor time that the server used in it
     * @param heapBytes bytes of the heap that the server took in it
     */
    record Result(Window window, long cpuNanos, long heapBytes) {
        double cpuMicrosPerRequest() {
            return cpuNanos / 1e3 / Math.max(1, window.answered());
        }

        double heapBytesPerRequest() {
            return heapBytes / (double) Math.max(1, window.answered());
        }

        double percentileMicros(double percentile) {
            return window.percentileNanos(percentile) / 1e3;
        }
    }

    private final ServerCpu cpu;
    private final LongSupplier heapBytes;

    /**
     * @param pid the server's process
     * @param heapBytes reads the bytes of the heap that the server has taken since it began
     */
    LoadedServer(long pid, LongSupplier heapBytes) {
        this.cpu = new ServerCpu(pid);
        this.heapBytes = heapBytes;
    }

    /**
     * Runs {@code connections} loops for {@code seconds} after {@code warmSeconds} that do not count.
     *
     * @throws IllegalStateException when a request fails
     */
    Result measure(Target target, int connections, double warmSeconds, double seconds) {
        Metered metered = new Metered(target);
        MeasurementPlan plan = new MeasurementPlan(
                duration(warmSeconds), duration(seconds), new StoppingRule(0, OptionalDouble.empty(), 1), 0, 0);
        Measurement measurement =
                LoadRun.measure(metered, new Load.Concurrency(connections), plan, () -> false, progress -> {});
        if (measurement.problems().failed() > 0) {
            throw new IllegalStateException(
                    "requests failed: " + measurement.problems().failures());
        }
        return new Result(measurement.window(), metered.cpuNanos, metered.heapTaken);
    }

    private static Duration duration(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    /** A target that reads what the process has spent at each end of a window, when the load asks for its counters. */
    private final class Metered implements Target {
        private final Target target;
        private long cpuBefore;
        private long heapBefore;
        private long cpuNanos;
        private long heapTaken;

        Metered(Target target) {
            this.target = target;
        }

        @Override
        public Caller caller(int worker) {
            return target.caller(worker);
        }

        @Override
        public Optional<ServerCounters> counters() {
            long heap = heapBytes.getAsLong();
            long spent = cpu.nanos();
            cpuNanos = spent - cpuBefore;
            heapTaken = heap - heapBefore;
            cpuBefore = spent;
            heapBefore = heap;
            return Optional.empty();
        }

        @Override
        public void close() {
            target.close();
        }
    }
}
