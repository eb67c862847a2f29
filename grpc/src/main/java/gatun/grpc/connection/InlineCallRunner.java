// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.streams.StreamCall;
import gatun.memory.threads.FailureLog;
import gatun.runtime.placement.LoanWatchdog;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator.Trust;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends a connection's reading thread to calls. A client that waits for each response leaves nothing to read meanwhile:
 * the thread that read the request answers it and finds the next, and no other has to be woken. Calls at the same time
 * have threads of their own. A call that waits for the client, or lasts, has another thread read on.
 */
@SuppressWarnings("ReferenceEquality") // a call equals no other
final class InlineCallRunner implements LoanWatchdog.Lender {
    private static final Logger LOG = LoggerFactory.getLogger(InlineCallRunner.class);

    /** A call that is seen at so many looks one after the other has lasted 7.5 to 15 ms. */
    private static final int LOOKS = 2;

    /** Among so many calls one looks whether the client has sent more before it is answered, for two system calls. */
    private static final int CALLS_TO_A_LOOK = 16;

    private final FrameReader reader;
    private final ConnectionStreams streams;
    private final RunPlacement placement;
    private final LoanWatchdog.Watch watch = LoanWatchdog.OF_THIS_JVM.over(this);
    private final Runnable readOn;

    /** The call on the reading thread. Whoever takes it out reads from then on, or has another thread read. */
    private final AtomicReference<@Nullable StreamCall> borrower = new AtomicReference<>();

    // Of the reading thread.
    private final Trust callsAreAlone;
    private int callsSinceLook;

    // Of the watchdog.
    private @Nullable StreamCall seen;
    private int looks;

    /** Lends the thread that uses {@code reader}. {@code readOn} starts another thread that reads. */
    InlineCallRunner(FrameReader reader, ConnectionStreams streams, RunPlacement placement, Runnable readOn) {
        this.reader = reader;
        this.streams = streams;
        this.placement = placement;
        this.callsAreAlone = placement.newReaderTrust();
        this.readOn = readOn;
    }

    /** Runs a complete call, or starts a thread for it. False where another thread reads from now on. */
    boolean run(StreamCall call) {
        if (!mayBorrow(call)) {
            call.runApart();
            return true;
        }
        borrower.set(call);
        watch.noteLoan();
        try {
            call.run();
        } catch (Throwable t) {
            // It would end the call's own thread, and must not end this one: another may read the connection already.
            FailureLog.write(t, failure -> LOG.error("a call failed beyond its handler", failure));
        }
        return borrower.compareAndSet(call, null);
    }

    private boolean mayBorrow(StreamCall call) {
        return call.isInference()
                && reader.canLook()
                && placement.runsOnReader(
                        reader.buffered() == 0 && streams.isOnlyUnanswered(call.stream()), callsAreAlone);
    }

    /** A call is about to be answered here. On the reading thread, checks now and then that the client waits. */
    void beforeResponse(StreamCall call) {
        if (borrower.get() != call || ++callsSinceLook < CALLS_TO_A_LOOK || !borrower.compareAndSet(call, null)) {
            return;
        }
        callsSinceLook = 0;
        try {
            if (reader.hasMore()) {
                callsAreAlone.disprove();
            }
        } catch (IOException e) {
            callsAreAlone.disprove(); // Reading on will show it again.
        } finally {
            borrower.set(call);
        }
    }

    /** The call is about to wait for the client: where it runs on the reading thread, another reads on. Any thread. */
    void takeBack(StreamCall call) {
        if (borrower.compareAndSet(call, null)) {
            readOn.run();
        }
    }

    @Override
    public boolean isLending() {
        return borrower.get() != null;
    }

    /** Has another thread read on where the same call has been running for some looks. */
    @Override
    public void look() {
        StreamCall now = borrower.get();
        looks = now == seen ? looks + 1 : 1;
        seen = now;
        if (now != null && looks >= LOOKS) {
            takeBack(now);
        }
    }
}
