package gatun.runtime.ratelimit;

import gatun.runtime.ratelimit.RateLimiter.Need;
import java.util.List;
import java.util.concurrent.locks.Condition;

/** An instance as its {@link RateLimiter} knows it. What changes is guarded by the limiter's lock. */
public final class RateLimitedInstance implements AutoCloseable {
    private final RateLimiter limiter;
    private final List<Need> needs;
    private final int device;
    private final int priority;
    private final Condition turn;
    private long runs;
    private boolean granted;

    /**
     * An instance that has not run.
     *
     * @param priority at least 1
     * @param turn of the limiter's lock; signalled when it may run
     */
    RateLimitedInstance(RateLimiter limiter, List<Need> needs, int device, int priority, Condition turn) {
        this.limiter = limiter;
        this.needs = List.copyOf(needs);
        this.device = device;
        this.priority = priority;
        this.turn = turn;
    }

    /** Waits until all that the instance needs is there, and takes it. To be followed by {@link #release}. */
    public void acquire() {
        limiter.acquire(this);
    }

    /** Gives back what the instance took. */
    public void release() {
        limiter.release(this);
    }

    /** Says that the instance runs no more. */
    @Override
    public void close() {
        limiter.remove(this);
    }

    List<Need> needs() {
        return needs;
    }

    int device() {
        return device;
    }

    Condition turn() {
        return turn;
    }

    long weighedRuns() {
        return runs * priority;
    }

    boolean granted() {
        return granted;
    }

    void granted(boolean now) {
        granted = now;
        if (now) {
            runs++;
        }
    }
}
