package gatun.jmh.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A closed loop: each connection sends its next request when the answer to the last has come. Measures requests a second
 * and the server's processor time per request, which is the steadier figure on a machine that others use too.
 */
final class LoadRun {
    /**
     * What one run measured.
     *
     * @param name what was asked
     * @param requests answers received in the measured time
     * @param wallNanos the measured time
     * @param serverCpuNanos processor time that the server used in it
     */
    record Result(String name, long requests, long wallNanos, long serverCpuNanos) {
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
        AtomicLong done = new AtomicLong();
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            Exchange exchange = opener.open();
            threads.add(Thread.ofPlatform().name("load-" + i).start(() -> {
                try (exchange) {
                    while (!stop.get()) {
                        exchange.once();
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
        return new Result(name, requests, wall, cpuNanos);
    }
}
