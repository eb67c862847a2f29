// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.Http2;

/**
 * Bytes that a client may still send on one stream. A message's bytes are given back when its handler has consumed it,
 * so a slow handler holds back its own client only. A message beyond the window gets its whole length at once, as its
 * memory is taken, but only when no earlier one waits, or a client could make the server take memory without end.
 * Increments count once announced. Safe for any thread by its own monitor: a lock would be one more object for each
 * call; no other is taken within, so that no pinned virtual thread waits there.
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

    /** A DATA frame came; whether it was allowed. {@code padding}, its length byte included, is given back at once. */
    synchronized boolean received(int payload, int padding) {
        available -= payload + padding;
        told -= payload + padding;
        awaited = Math.max(0, awaited - payload);
        returned += padding;
        return told >= 0;
    }

    /** A message begins, {@code beyond} of its bytes after the present frame; the increment to announce, or 0. */
    synchronized int messageBegins(long beyond) {
        awaited = beyond;
        return waitingMessages == 0 ? announceAwaited() : 0;
    }

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
