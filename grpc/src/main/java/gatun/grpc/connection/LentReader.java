// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.memory.threads.FailureLog;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends a connection's reading thread to calls. A client that waits for each response before it sends the next request
 * leaves nothing to read meanwhile: the thread that has read the request answers it, and finds the next one there; no
 * thread has to be woken for the one or the other. Where clients have several calls at a time, their calls have threads
 * of their own. A call that waits for the client, or has lasted for some time, has another thread read on.
 */
final class LentReader {
    private static final Logger LOG = LoggerFactory.getLogger(LentReader.class);

    /** A connection's first calls show whether they come one at a time. */
    private static final int FIRST_CALLS = 4;

    /** So many calls must have been alone after some that were not; each time twice as many. */
    private static final int FEWEST_ALONE = 64;

    private static final int MOST_ALONE = 1 << 12;

    /** Among so many calls one looks whether the client has sent more before it is answered, for two system calls. */
    private static final int CALLS_TO_A_LOOK = 16;

    private final FrameReader reader;
    private final ConnectionStreams streams;
    private final LendingWatch watch;
    private final Runnable readOn;

    /** The call that runs on the reading thread. Whoever takes it out reads from then on, or has another thread read. */
    private final AtomicReference<@Nullable GrpcCall<?, ?>> borrower = new AtomicReference<>();

    /** Whether {@link #watch} looks here. */
    private volatile boolean watched;

    // Of the reading thread.
    private int aloneCalls = FEWEST_ALONE - FIRST_CALLS;
    private int callsBefore = FEWEST_ALONE;
    private int callsSinceLook;

    // Of the watch.
    private @Nullable GrpcCall<?, ?> seen;
    private int quietLooks;

    /**
     * Lends the thread that uses {@code reader}.
     *
     * @param readOn starts another thread that reads
     */
    LentReader(FrameReader reader, ConnectionStreams streams, LendingWatch watch, Runnable readOn) {
        this.reader = reader;
        this.streams = streams;
        this.watch = watch;
        this.readOn = readOn;
    }

    /**
     * Runs a call whose request is complete, or starts a thread for it. For the reading thread, which reads no more where
     * this is false: another does.
     */
    boolean run(GrpcCall<?, ?> call) {
        if (!mayBorrow(call)) {
            call.runApart();
            return true;
        }
        borrower.set(call);
        if (!watched) {
            watched = true;
            watch.add(this);
        }
        try {
            call.run();
        } catch (Throwable t) {
            // It would end the call's own thread, and must not end this one: another may read the connection already.
            FailureLog.write(t, failure -> LOG.error("a call failed beyond its handler", failure));
        }
        return borrower.compareAndSet(call, null);
    }

    private boolean mayBorrow(GrpcCall<?, ?> call) {
        if (!call.isInference() || !reader.canLook()) {
            return false;
        }
        if (reader.buffered() > 0 || !streams.isOnlyUnanswered(call.stream())) {
            aloneCalls = 0;
            return false;
        }
        if (aloneCalls < callsBefore) {
            aloneCalls++;
            return false;
        }
        return true;
    }

    /**
     * A call is about to be answered by the calling thread, and nobody writes meanwhile. Where it runs on the reading
     * thread, looks now and then whether the client has waited for that.
     */
    void beforeResponse(GrpcCall<?, ?> call) {
        if (borrower.get() != call || ++callsSinceLook < CALLS_TO_A_LOOK || !borrower.compareAndSet(call, null)) {
            return;
        }
        callsSinceLook = 0;
        try {
            if (reader.hasMore()) {
                callsBefore = Math.min(2 * callsBefore, MOST_ALONE);
                aloneCalls = 0;
            }
        } catch (IOException e) {
            aloneCalls = 0; // Reading on will show it again.
        } finally {
            borrower.set(call);
        }
    }

    /** The call is about to wait for the client: where it runs on the reading thread, another reads on. Any thread. */
    void takeBack(GrpcCall<?, ?> call) {
        if (borrower.compareAndSet(call, null)) {
            readOn.run();
        }
    }

    /**
     * Has another thread read on where the same call was running at the last look; false when nothing was lent for so
     * many looks that it needs none any more. For the watch.
     */
    boolean look(int quietLooksToEnd) {
        GrpcCall<?, ?> now = borrower.get();
        if (now == null) {
            quietLooks++;
        } else {
            quietLooks = 0;
            if (now == seen) {
                takeBack(now);
            }
        }
        seen = now;
        return quietLooks < quietLooksToEnd;
    }

    /** The watch looks here no more, until it is asked again. Whether something was lent at the same moment. */
    boolean endWatch() {
        quietLooks = 0;
        watched = false;
        return borrower.get() != null;
    }
}
