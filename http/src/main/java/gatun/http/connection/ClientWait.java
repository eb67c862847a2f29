// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Since when a connection waits for its client. Each byte of a body makes up for the time that the least rate gives it,
 * and no more: a client that sends faster counts as one that has just sent something, one that sends slower falls
 * behind. Written by the connection's thread, read by any.
 */
final class ClientWait {
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

    /**
     * The client is waited for from now on.
     *
     * @param bodyByteRate the bytes a second that a client has to send of a body; 0 for any number
     * @param nanoClock the time, as {@link System#nanoTime}
     */
    ClientWait(long bodyByteRate, LongSupplier nanoClock) {
        this.bodyByteRate = bodyByteRate;
        this.nanoClock = nanoClock;
        this.waitingSince = now();
    }

    /** The client is waited for from now on. */
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
