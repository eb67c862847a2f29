// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A closed loop: each connection sends its next request when the response to the last has come. Measures requests a
 * second and the server's processor time per request, which is the steadier figure on a machine that others use too.
 */
final class LoadRun {
    /**
     * The measurements of one run.
     *
     * @param name what was asked
     * @param requests responses received in the measured time
     * @param allRequests responses received in all, before and after it too
     * @param wallNanos the measured time
     * @param serverCpuNanos processor time that the server used in it
     * @param median the time within which half of the requests were answered, in nanoseconds
     * @param percentile99 the same for 99 of 100
     */
    record Result(
            String name,
            long requests,
            long allRequests,
            long wallNanos,
            long serverCpuNanos,
            long median,
            long percentile99) {
        double perSecond() {
            return requests * 1e9 / wallNanos;
        }

        double cpuMicrosPerRequest() {
            return serverCpuNanos / 1e3 / Math.max(1, requests);
        }
    }

    /** Opens one connection. */
    interface Opener {
        Exchange open() throws IOException;
    }

    private LoadRun() {}

    /** Runs {@code connections} loops for {@code seconds} after {@code warmSeconds} that do not count. */
    static Result run(String name, long serverPid, int connections, double warmSeconds, double seconds, Opener opener)
            throws IOException, InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicBoolean measuring = new AtomicBoolean();
        AtomicLong done = new AtomicLong();
        List<Latencies> latencies = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            Exchange exchange = opener.open();
            Latencies own = new Latencies();
            latencies.add(own);
            threads.add(Thread.ofPlatform().name("load-" + i).start(() -> {
                try (exchange) {
                    while (!stop.get()) {
                        long sent = System.nanoTime();
                        exchange.once();
                        if (measuring.get()) {
                            own.add(System.nanoTime() - sent);
                        }
                        done.incrementAndGet();
                    }
                } catch (IOException | RuntimeException e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                    stop.set(true);
                }
            }));
        }
        ServerCpu cpu = new ServerCpu(serverPid);
        Thread.sleep((long) (warmSeconds * 1000));
        measuring.set(true);
        long requestsBefore = done.get();
        long cpuBefore = cpu.nanos();
        long begin = System.nanoTime();
        Thread.sleep((long) (seconds * 1000));
        long requests = done.get() - requestsBefore;
        long cpuNanos = cpu.nanos() - cpuBefore;
        long wall = System.nanoTime() - begin;
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException(name + " failed", failures.get(0));
        }
        long[] sorted = Latencies.sorted(latencies);
        return new Result(name, requests, done.get(), wall, cpuNanos, quantile(sorted, 0.5), quantile(sorted, 0.99));
    }

    private static long quantile(long[] sorted, double share) {
        return sorted.length == 0 ? 0 : sorted[(int) (share * sorted.length)];
    }
}
