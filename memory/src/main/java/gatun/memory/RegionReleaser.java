package gatun.memory;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The one thread that unmaps regions: for a gigabyte that takes up to a tenth of a second, which no request should wait for. */
final class RegionReleaser implements AutoCloseable {
    private static final long CLOSE_SECONDS = 10;

    private final ExecutorService thread = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            // Bounded by the number of regions, each of which is released once.
            new LinkedBlockingQueue<>(),
            task -> Thread.ofPlatform().daemon().name("region-releaser").unstarted(task));

    /** Runs {@code release} soon, after those before it. */
    void release(Runnable release) {
        thread.execute(release);
    }

    /** Waits for what was handed over before. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
