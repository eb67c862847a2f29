// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.util.concurrent.locks.ReentrantLock;

/**
 * How much a client may still send on one stream. A message's bytes are given back when its handler has consumed it, so
 * a slow handler holds back its own client only. A message that does not fit into what is left gets its whole length at
 * once, because its memory is already taken; but only when no earlier message waits, or a client could make the server
 * take memory without end. Bytes count as given back for the client when it is told so, which is late where it does not
 * read what it is told. Safe for any thread.
 */
final class ReceiveWindow {
    private final ReentrantLock lock = new ReentrantLock();

    /** Returned bytes are announced to the client from this many on. */
    private final long announceSize;

    // Guarded by lock.
    /** What the client may send once it has been told all that was decided. */
    private long available;

    /** What the client may send by what it has been told. */
    private long told;

    private long returned;
    private int waitingMessages;
    private long awaited;

    ReceiveWindow(int size) {
        this.available = size;
        this.told = size;
        this.announceSize = Math.max(1, size / 2);
    }

    /**
     * A DATA frame came.
     *
     * @param payload its bytes without padding
     * @param padding its bytes of padding, length byte included; given back at once
     * @return whether the client was allowed to send it
     */
    boolean received(int payload, int padding) {
        lock.lock();
        try {
            available -= payload + padding;
            told -= payload + padding;
            awaited = Math.max(0, awaited - payload);
            returned += padding;
            return told >= 0;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A message begins of which {@code beyond} bytes lie beyond the present frame.
     *
     * @return the increment to announce, or 0
     */
    int messageBegins(long beyond) {
        lock.lock();
        try {
            awaited = beyond;
            return waitingMessages == 0 ? announceAwaited() : 0;
        } finally {
            lock.unlock();
        }
    }

    /** A message is complete and waits for its handler. */
    void messageWaits() {
        lock.lock();
        try {
            waitingMessages++;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A message of {@code byteSize} bytes, prefix included, was consumed.
     *
     * @return the increment to announce, or 0
     */
    int messageConsumed(long byteSize) {
        lock.lock();
        try {
            waitingMessages--;
            returned += byteSize;
            if (waitingMessages == 0 && awaited > available) {
                return announceAwaited();
            }
            return returned >= announceSize ? announce(returned) : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the client may not send all of the message that it has begun. */
    boolean holdsBack() {
        lock.lock();
        try {
            return awaited > available;
        } finally {
            lock.unlock();
        }
    }

    /** The client is told {@code increment} now; before it can know. */
    void told(int increment) {
        lock.lock();
        try {
            told += increment;
        } finally {
            lock.unlock();
        }
    }

    /** Gives the awaited message all it needs, on account of what will be returned when it is consumed. */
    private int announceAwaited() {
        assert lock.isHeldByCurrentThread();
        if (awaited <= available) {
            return 0;
        }
        return announce(Math.max(returned, awaited));
    }

    private int announce(long wanted) {
        long increment = Math.min(wanted, Http2.LARGEST_WINDOW_SIZE - available);
        available += increment;
        // Below zero where bytes were given on account: the message's own return makes up for it.
        returned -= increment;
        return (int) increment;
    }
}
