// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.Transport.SocketTransport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Whether a client is still there while its request waits. The connection's thread says when a request waits; another
 * thread then looks at the socket, by a read that does not wait. The bytes that it reads, the beginning of a next
 * request, are kept for the connection's thread.
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
     * Says that a request waits from now on. For the connection's thread, which leaves the socket alone until
     * {@link #stopWaiting}.
     *
     * @param onGone is run, at most once and on another thread, when the client is gone; perhaps a moment after the
     *     waiting has ended
     * @param more whether the client has sent more than the request
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

    /**
     * Checks whether the client has sent bytes that nobody has read yet, and keeps them. For the connection's thread.
     */
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

    /**
     * Checks whether the client is gone, and if so runs the action that was given for that. For any thread but the
     * connection's. {@code scratch} is where data is read first.
     */
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
}
