// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.runtime.limits.WorkBudget;
import gatun.runtime.limits.WorkBudgets;
import java.util.concurrent.atomic.AtomicInteger;

/** One connection's calls, finished or thrown away, in its client's budget. Any thread may add. */
public final class AbandonedCalls {
    /** The most calls that are remembered to have been ended here before their clients had sent everything. */
    private static final int MOST_ENDED_EARLY = 1000;

    /** A reset that comes after the response takes back what that response has earned, and counts besides. */
    private static final long LATE_RESET_NANOS = 2 * (WorkBudgets.CALL_NANOS + WorkBudgets.REQUEST_NANOS);

    private final WorkBudget budget;

    /** Calls that the server has ended by itself: their clients may reset them at the same moment, or in response. */
    private final AtomicInteger endedEarly = new AtomicInteger();

    private volatile boolean tooMuch;

    /** @param budget what the client may throw away */
    public AbandonedCalls(WorkBudget budget) {
        this.budget = budget;
    }

    /** The client has got the response to that much work. */
    public void finish(long nanos) {
        budget.finish(nanos);
    }

    /** That much work was done for nothing. */
    public void add(long nanos) {
        if (!budget.abandon(nanos)) {
            tooMuch = true;
        }
    }

    /** The server has ended a call whose client may still reset it. */
    public void noteEndedEarly() {
        if (endedEarly.get() < MOST_ENDED_EARLY) {
            endedEarly.incrementAndGet();
        }
    }

    /** The client resets a call that is over. */
    public void addLateReset() {
        if (endedEarly.getAndUpdate(count -> Math.max(0, count - 1)) == 0) {
            add(LATE_RESET_NANOS);
        }
    }

    /**
     * Goes on with a connection whose client is within its budget.
     *
     * @throws ConnectionError ENHANCE_YOUR_CALM otherwise
     */
    public void requireWithin() {
        if (tooMuch) {
            throw new ConnectionError(
                    Http2Error.ENHANCE_YOUR_CALM,
                    "too many calls were given up before they were answered, and too few finished; "
                            + "give up fewer calls, or less often");
        }
    }
}
