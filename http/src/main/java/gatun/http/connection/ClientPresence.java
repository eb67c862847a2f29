// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.Transport.SocketTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a client is there while its request waits. Its own thread says when one waits; another then looks at the
 * socket by a read that does not wait. Bytes of a next request that it reads are kept for the connection's thread.
 */
final class ClientPresence {
    /** The result of a look. */
    enum Look {
        /** No request waits. */
        NOTHING_WAITS,
        /** A request waits whose socket was not looked at: it has not waited long, or the client sent more. */
        NOT_LOOKED,
        /** A request waits, and the socket was looked at. */
        LOOKED
    }

    private final SocketTransport transport;

    /** Keeps the connection's thread from the socket during a look, and vice versa. Held for reads without blocking. */
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private @Nullable Runnable whenGone;
    private boolean seenBefore;
    private boolean sentMore;
    private boolean gone;

    /** Written under the lock while a request waits, and read by the connection's thread, between requests. */
    private byte @Nullable [] kept;

    ClientPresence(SocketTransport transport) {
        this.transport = transport;
    }

    /**
     * A request waits from now on: the connection's thread leaves the socket alone until {@link #stopWaiting}.
     * {@code onGone} runs once, on another thread, perhaps late, when the client is gone; {@code more} if it sent more.
     */
    void startWaiting(Runnable onGone, boolean more) {
        lock.lock();
        try {
            whenGone = onGone;
            seenBefore = false;
            sentMore = more || kept != null;
        } finally {
            lock.unlock();
        }
    }

    /** Says that no request waits any more; the socket belongs to the connection's thread again. */
    void stopWaiting() {
        lock.lock();
        try {
            whenGone = null;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #stopWaiting}, until {@link #startWaiting} with the result. Null if the client is gone. */
    @Nullable
    Runnable pause() {
        lock.lock();
        try {
            Runnable onGone = whenGone;
            whenGone = null;
            return onGone;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the bytes of a next request that looks have read, once; null for none. For the connection's thread. */
    byte @Nullable [] takeKept() {
        byte[] bytes = kept;
        kept = null;
        return bytes;
    }

    /** Whether {@link #takeKept} would take any. For the connection's thread, while nothing waits. */
    boolean hasKept() {
        return kept != null;
    }

    /** Whether the client has sent bytes that nobody has read yet; keeps them. For the connection's thread. */
    boolean hasSentMore(ByteBuffer scratch) {
        lock.lock();
        try {
            if (kept == null && !gone) {
                hasLeft(scratch);
            }
            return kept != null;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a request waits. For any thread. */
    boolean isWaitedFor() {
        lock.lock();
        try {
            return whenGone != null;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a look has found the client gone. For the connection's thread, while nothing waits. */
    boolean isGone() {
        return gone;
    }

    /** Runs the action for that if the client is gone; {@code scratch} takes data. For any thread but its own. */
    Look look(ByteBuffer scratch) {
        Runnable onGone;
        if (!lock.tryLock()) {
            return Look.NOT_LOOKED;
        }
        try {
            onGone = whenGone;
            if (onGone == null) {
                return Look.NOTHING_WAITS;
            }
            if (!seenBefore || sentMore) {
                seenBefore = true;
                return Look.NOT_LOOKED;
            }
            if (!hasLeft(scratch)) {
                return Look.LOOKED;
            }
            whenGone = null;
            gone = true;
        } finally {
            lock.unlock();
        }
        onGone.run();
        return Look.LOOKED;
    }

    private boolean hasLeft(ByteBuffer scratch) {
        scratch.clear();
        try {
            int count = transport.readNow(scratch);
            if (count > 0) {
                kept = new byte[count];
                scratch.flip().get(kept);
                sentMore = true;
            }
            return count < 0;
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * Since when a connection waits for its client. Bytes of a body make up for the time that the least rate gives
     * them, and no more: who sends slower falls behind. Written by the connection's thread, read by any.
     */
    static final class ClientWait {
        /** Stands for "the server is at work, not the client". */
        private static final long AT_WORK = 0;

        private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

        private final long bodyByteRate;
        private final LongSupplier nanoClock;

        /** A reading of the clock, or {@link #AT_WORK}. */
        private volatile long waitingSince;

        /** The part of a request that is under way. For the connection's thread. */
        private Part part = Part.NOTHING;

        /** Since when the client, for all that it has sent of the body, is behind; 0 until it has been waited for. */
        private long behindSince;

        private enum Part {
            /** No part of a request, or the server is at work. */
            NOTHING,
            /** Some of a request's head has come, and not all. */
            HEAD,
            BODY
        }

        /** The client is waited for from now on, and has to send {@code bodyByteRate} bytes of a body a second. */
        ClientWait(long bodyByteRate, LongSupplier nanoClock) {
            this.bodyByteRate = bodyByteRate;
            this.nanoClock = nanoClock;
            this.waitingSince = now();
        }

        void startWaiting() {
            waitingSince = now();
        }

        /** The client's next bytes are waited for: a request's head, with its time in all, or the body. */
        void startWaitingForRequest() {
            if (part == Part.NOTHING) {
                startWaiting();
            } else if (part == Part.BODY && behindSince == 0) {
                behindSince = now();
                waitingSince = behindSince;
            }
        }

        /** {@code byteSize} bytes have come, of a request's head or of its body. */
        void addReceived(long byteSize) {
            switch (part) {
                case NOTHING -> {
                    startWaiting();
                    part = Part.HEAD;
                }
                case HEAD -> {
                    // Bytes that come after the head's first give the client no more time for the head.
                }
                case BODY -> {
                    behindSince = caughtUp(byteSize);
                    waitingSince = behindSince;
                }
            }
        }

        /** A body is read from now on, until the server {@linkplain #stopWaiting is at work}. */
        void beginBody() {
            part = Part.BODY;
            behindSince = 0;
        }

        void stopWaiting() {
            part = Part.NOTHING;
            waitingSince = AT_WORK;
        }

        /** How long the client has been waited for; zero while the server is at work. */
        Duration waiting() {
            long since = waitingSince;
            return since == AT_WORK ? Duration.ZERO : Duration.ofNanos(nanoClock.getAsLong() - since);
        }

        private long caughtUp(long byteSize) {
            long now = now();
            if (bodyByteRate == 0) {
                return now;
            }
            long bought = (long) ((double) byteSize * NANOS_PER_SECOND / bodyByteRate);
            return (behindSince + Math.min(now - behindSince, bought)) | 1;
        }

        private long now() {
            // The lowest bit keeps it from being AT_WORK by chance.
            return nanoClock.getAsLong() | 1;
        }
    }
}
