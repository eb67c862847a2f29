package gatun.runtime.scheduling;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the runs that are on request threads at present, over all models. A virtual thread in native code holds its carrier thread, and
 * nothing takes it away: a run that was short a thousand times may take minutes for one input. One carrier is therefore always left to
 * everybody else, and so to connections and health checks. Safe for any thread; never waits.
 */
final class InlineRuns {
    /** Those of this JVM, which has one set of carrier threads. */
    static final InlineRuns OF_THIS_JVM = new InlineRuns(carrierCount() - 1);

    private final int limit;
    private final AtomicInteger running = new AtomicInteger();

    /** @param limit how many runs may hold carrier threads at a time */
    InlineRuns(int limit) {
        this.limit = limit;
    }

    /** As the JVM counts its carrier threads. */
    private static int carrierCount() {
        return Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    }

    /** Whether the calling thread may run now; then it says {@link #end} afterwards. A platform thread always may. */
    boolean tryBegin() {
        if (!Thread.currentThread().isVirtual()) {
            return true;
        }
        if (running.incrementAndGet() <= limit) {
            return true;
        }
        running.decrementAndGet();
        return false;
    }

    /** Ends the calling thread's run. */
    void end() {
        if (Thread.currentThread().isVirtual()) {
            running.decrementAndGet();
        }
    }
}
