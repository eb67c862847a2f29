// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.memory.tensor.IoFailure;
import gatun.stores.mirror.Mirror;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refreshes mirrors side by side, each once at a time, so that one whose place hangs does not hold up the others. Owns its
 * threads, and not the mirrors. Safe for any thread.
 */
final class MirrorPoll implements AutoCloseable {
    /** For how long a look at the folders waits for what is on its way; what takes longer is seen by the next one. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(MirrorPoll.class);

    private final List<Polled> mirrors;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("store-poll-", 0).factory());

    /** A mirror, with its last refresh. Guarded by the poll, but for what the refresh itself does. */
    private static final class Polled {
        private final Mirror mirror;
        private Future<?> last = CompletableFuture.completedFuture(null);

        /** Why it could not be looked at when that was last tried, so that each reason is logged once. */
        private String reason = "";

        Polled(Mirror mirror) {
            this.mirror = mirror;
        }

        void refresh() {
            try {
                mirror.refresh();
                reason = "";
            } catch (IOException e) {
                String now = IoFailure.describe(e);
                if (!now.equals(reason) && !Thread.currentThread().isInterrupted()) {
                    LOG.warn("Models are left as they are: {}", now);
                }
                reason = now;
            }
        }
    }

    MirrorPoll(List<Mirror> mirrors) {
        this.mirrors = mirrors.stream().map(Polled::new).toList();
    }

    /** Refreshes those mirrors that are not being refreshed; returns when they are, or after a moment. */
    synchronized void refresh() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        List<Future<?>> begun = new ArrayList<>();
        for (Polled polled : mirrors) {
            if (polled.last.isDone()) {
                polled.last = threads.submit(polled::refresh);
                begun.add(polled.last);
            }
        }
        for (Future<?> refresh : begun) {
            try {
                refresh.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                return;
            } catch (ExecutionException e) {
                throw new IllegalStateException("a repository could not be looked at", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Ends what is under way, and waits for that. */
    @Override
    public void close() {
        threads.shutdownNow();
        threads.close();
    }
}
