// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.Http2;

/**
 * Bytes that a client may still send on one stream. A message's bytes are given back when its handler has consumed it,
 * so a slow handler holds back its own client only. A message that does not fit into the rest of the window gets its
 * whole length at once, because its memory is already taken; but only when no earlier message waits, or a client could
 * make the server take memory without end. An increment counts for the client once it is announced, which is late when
 * the client does not read. Safe for any thread, by its own monitor: a lock would be one more object for each call. No
 * other lock is taken within, so that a virtual thread never waits there while it is pinned.
 */
final class ReceiveWindow {
    /** Returned bytes are announced to the client from this many on. */
    private final long announceSize;

    // Guarded by this.
    /** Bytes that the client may send once all decided increments have been announced. */
    private long available;

    /** Bytes that the client may send by the announced increments. */
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
    synchronized boolean received(int payload, int padding) {
        available -= payload + padding;
        told -= payload + padding;
        awaited = Math.max(0, awaited - payload);
        returned += padding;
        return told >= 0;
    }

    /**
     * A message begins of which {@code beyond} bytes lie beyond the present frame.
     *
     * @return the increment to announce, or 0
     */
    synchronized int messageBegins(long beyond) {
        awaited = beyond;
        return waitingMessages == 0 ? announceAwaited() : 0;
    }

    /** A message is complete and waits for its handler. */
    synchronized void messageWaits() {
        waitingMessages++;
    }

    /** A message of {@code byteSize} bytes, prefix included, was consumed. Returns the increment to announce, or 0. */
    synchronized int messageConsumed(long byteSize) {
        waitingMessages--;
        returned += byteSize;
        if (waitingMessages == 0 && awaited > available) {
            return announceAwaited();
        }
        return returned >= announceSize ? announce(returned) : 0;
    }

    /** Whether the client may not send all of the message that it has begun. */
    synchronized boolean holdsBack() {
        return awaited > available;
    }

    /** The client is told {@code increment} now; before it can know. */
    synchronized void told(int increment) {
        told += increment;
    }

    /** Gives the awaited message all that it needs, in advance of the bytes that are returned when it is consumed. */
    private int announceAwaited() {
        assert Thread.holdsLock(this);
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
