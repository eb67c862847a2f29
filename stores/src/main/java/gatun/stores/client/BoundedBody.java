// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A body that ends with an exception when it is larger than it may be, or slower. The JDK's client has a timeout for the
 * head of a response only, so a thread looks at all bodies, and closes those that do not come.
 */
final class BoundedBody extends FilterInputStream {
    private static final ScheduledExecutorService WATCH = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("store-transfer-watch").factory());

    private final long byteLimit;
    private final long leastBytes;
    private final AtomicLong received = new AtomicLong();
    private final Future<?> watch;

    /** Used by the watch only. */
    private long seen;

    private volatile boolean tooSlow;

    /**
     * @param byteLimit the most bytes
     * @param leastBytes the fewest within each {@code timeout}
     */
    BoundedBody(InputStream body, long byteLimit, long leastBytes, Duration timeout) {
        super(body);
        this.byteLimit = byteLimit;
        this.leastBytes = leastBytes;
        watch = WATCH.scheduleWithFixedDelay(this::look, timeout.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void look() {
        long now = received.get();
        if (now - seen < leastBytes) {
            tooSlow = true;
            try {
                in.close();
            } catch (IOException e) {
                // The reader gets its own.
            }
        }
        seen = now;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int n;
        try {
            n = super.read(bytes, offset, length);
        } catch (IOException e) {
            requireSpeed(e);
            throw e;
        }
        if (n < 0) {
            requireSpeed(null);
            return n;
        }
        if (received.addAndGet(n) > byteLimit) {
            throw new StoreException(
                    StoreException.Kind.LIMIT,
                    "the store sends more than the " + byteLimit + " bytes that are expected");
        }
        return n;
    }

    private void requireSpeed(@org.jspecify.annotations.Nullable IOException cause) throws StoreException {
        if (tooSlow) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "the store sent fewer than " + leastBytes + " bytes within the timeout (--store-timeout-secs)",
                    cause == null ? new IOException("closed") : cause);
        }
    }

    @Override
    public long skip(long count) throws IOException {
        throw new UnsupportedOperationException("bodies are read");
    }

    @Override
    public void close() throws IOException {
        watch.cancel(false);
        super.close();
    }
}
