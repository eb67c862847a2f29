// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.grpc.frames.FrameWriter.Control;
import gatun.grpc.frames.Http2Error.ConnectionError;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Tasks for a connection's writer; too many make the reading thread wait. Taken under the writer's lock. */
final class PendingControls {
    /** Responses to frames, while the client does not read; no frames that cause more are read meanwhile. */
    private static final int LIMIT = 256;

    private final Duration readingPatience;
    private final BooleanSupplier closed;
    private final Queue<Control> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    /** The reading thread while it waits for responses to be written. */
    private volatile @Nullable Thread reader;

    /** A client may leave too many responses unread for {@code readingPatience}. {@code closed}: nothing is written. */
    PendingControls(Duration readingPatience, BooleanSupplier closed) {
        this.readingPatience = readingPatience;
        this.closed = closed;
    }

    void add(Control action) {
        queue.add(action);
        count.incrementAndGet();
    }

    /** Takes the oldest; null when there is none. */
    @Nullable
    Control poll() {
        Control action = queue.poll();
        if (action != null && count.decrementAndGet() == LIMIT / 2) {
            wakeReader();
        }
        return action;
    }

    int size() {
        return count.get();
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    void clear() {
        queue.clear();
    }

    /** Waits while too many wait, until half are gone. Throws {@link ConnectionError} if none is read for too long. */
    void awaitRoom() {
        if (count.get() >= LIMIT) {
            awaitWritten();
        }
    }

    private void awaitWritten() {
        long deadline = System.nanoTime() + readingPatience.toNanos();
        reader = Thread.currentThread();
        try {
            while (!closed.getAsBoolean() && count.get() >= LIMIT) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new ConnectionError(
                            Http2Error.ENHANCE_YOUR_CALM, LIMIT + " answers were not read within " + readingPatience);
                }
                LockSupport.parkNanos(this, left);
                if (Thread.interrupted()) {
                    throw new ConnectionError(Http2Error.ENHANCE_YOUR_CALM, "the connection ends with answers unread");
                }
            }
        } finally {
            reader = null;
        }
    }

    void wakeReader() {
        Thread waiting = reader;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }
}
