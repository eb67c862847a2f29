// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ratelimit;

import gatun.runtime.ratelimit.RateLimiter.Need;
import gatun.runtime.scheduling.RunPermit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An instance as its {@link RateLimiter} knows it. What changes is guarded by the limiter's lock. */
final class RateLimitedInstance implements RunPermit, AutoCloseable {
    private final RateLimiter limiter;
    private final List<Need> needs;
    private final int device;
    private final int priority;

    /** Called when it is granted what it waits for; null while it does not wait. */
    private @Nullable Runnable wake;

    private long runs;
    private boolean granted;

    /** An instance that has not run; {@code priority} is at least 1. */
    RateLimitedInstance(RateLimiter limiter, List<Need> needs, int device, int priority) {
        this.limiter = limiter;
        this.needs = List.copyOf(needs);
        this.device = device;
        this.priority = priority;
    }

    @Override
    public boolean ask(Runnable whenGranted) {
        return limiter.ask(this, whenGranted);
    }

    @Override
    public void decline() {
        limiter.decline(this);
    }

    /** Notes that the instance has run, and gives back what it took for that; it then asks again or declines. */
    void recordRun() {
        limiter.recordRun(this);
    }

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

    long weighedRuns() {
        return runs * priority;
    }

    boolean granted() {
        return granted;
    }

    /** Has {@code whenGranted} called when it is granted what it waits for. */
    void markWaiting(Runnable whenGranted) {
        wake = whenGranted;
    }

    void grant() {
        granted = true;
        if (wake != null) {
            wake.run();
            wake = null;
        }
    }

    /** Notes that it has and wants nothing any more, and ran {@code times} since it was granted that. */
    void end(int times) {
        granted = false;
        wake = null;
        runs += times;
    }
}
