// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The TLS handshakes under way, each with a time limit. Their arithmetic takes a processor a millisecond or more, so it
 * runs for a few at a time and leaves a processor to other work. Thread-safe.
 */
final class TlsHandshakes {
    /** How long a client may take for its handshake by default. */
    static final Duration STANDARD_LIMIT = Duration.ofSeconds(10);

    private final Duration limit;
    private final ScheduledThreadPoolExecutor timer;

    /** Fair: served in the order of arrival. As many as logical processors, since each is there for a millisecond only. */
    private final Semaphore processors =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() - 1), true);

    TlsHandshakes(Duration limit) {
        this.limit = limit;
        this.timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("tls-handshake-timer").factory());
        timer.setRemoveOnCancelPolicy(true);
    }

    /** Begins a handshake; {@code onLate} runs on another thread when it is not done in time. */
    Handshake begin(Runnable onLate) {
        return new Handshake(onLate);
    }

    /** One handshake, from its beginning until it is closed. For the connection's thread. */
    final class Handshake implements AutoCloseable {
        private final long endNanos = System.nanoTime() + limit.toNanos();
        private final Future<?> late;

        private Handshake(Runnable onLate) {
            late = timer.schedule(onLate, limit.toNanos(), TimeUnit.NANOSECONDS);
        }

        /** Runs a part in its turn. Throws when the turn has not come in time, or the thread is interrupted. */
        void run(Runnable task) throws IOException {
            try {
                if (!processors.tryAcquire(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    throw tooLate();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException("interrupted in a TLS handshake").initCause(e);
            }
            try {
                requireInTime(); // its connection is closed otherwise, and the work would be for nobody
                task.run();
            } finally {
                processors.release();
            }
        }

        void requireInTime() throws IOException {
            if (endNanos - System.nanoTime() <= 0) {
                throw tooLate();
            }
        }

        private IOException tooLate() {
            return new IOException("it was not done within " + limit);
        }

        @Override
        public void close() {
            late.cancel(false);
        }
    }
}
