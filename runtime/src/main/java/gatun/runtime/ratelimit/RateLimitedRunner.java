// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ratelimit;

import gatun.runtime.ratelimit.RateLimiter.Need;
import gatun.runtime.scheduling.BatchRunner;
import gatun.runtime.scheduling.PendingRequest;
import gatun.runtime.scheduling.RunPermit;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A runner that runs only while the resources of its instance are there. It takes its {@link RunPermit} from the {@link
 * RateLimiter} before it takes a batch, so that requests wait for resources in the queue.
 */
public final class RateLimitedRunner<T extends PendingRequest> implements BatchRunner<T>, RunPermit {
    /** The processor counts as the first device, as in Triton. */
    private static final int PROCESSOR = 0;

    private final BatchRunner<T> runner;
    private final RateLimiter limiter;
    private final List<Need> needs;
    private final int priority;

    /** Set when this opens, before its scheduler asks for a turn. */
    private @Nullable RateLimitedInstance instance;

    private RateLimitedRunner(BatchRunner<T> runner, RateLimiter limiter, List<Need> needs, int priority) {
        this.runner = runner;
        this.limiter = limiter;
        this.needs = needs;
        this.priority = priority;
    }

    /** Limits {@code runner} as {@code group} asks; itself without resources. Fails to open if it never could run. */
    public static <T extends PendingRequest> BatchRunner<T> of(
            BatchRunner<T> runner, ModelInstanceGroup group, RateLimiter limiter) {
        List<Need> needs = group.getRateLimiter().getResourcesList().stream()
                .map(resource -> new Need(resource.getName(), resource.getGlobal(), resource.getCount()))
                .toList();
        if (needs.isEmpty() || !limiter.limits()) {
            return runner;
        }
        return new RateLimitedRunner<>(
                runner, limiter, needs, group.getRateLimiter().getPriority());
    }

    @Override
    public String threadName() {
        return runner.threadName();
    }

    @Override
    public void open() {
        RateLimitedInstance registered = limiter.register(needs, PROCESSOR, priority);
        try {
            runner.open();
        } catch (RuntimeException | Error e) {
            registered.close();
            throw e;
        }
        instance = registered;
    }

    @Override
    public void abort() {
        runner.abort();
    }

    @Override
    public void prepare(Runnable ready) {
        try {
            runner.prepare(ready);
        } catch (RuntimeException | Error e) {
            registered().close();
            throw e;
        }
    }

    /** A request's own thread should not be the one to wait for resources while others could run. */
    @Override
    public boolean isBoundToThread() {
        return true;
    }

    @Override
    public Optional<RunPermit> turn() {
        return Optional.of(this);
    }

    @Override
    public boolean ask(Runnable wake) {
        return registered().ask(wake);
    }

    @Override
    public void decline() {
        registered().decline();
    }

    @Override
    public long run(List<T> batch) {
        try {
            return runner.run(batch);
        } finally {
            registered().recordRun();
        }
    }

    @Override
    public void close() {
        try {
            runner.close();
        } finally {
            registered().close();
        }
    }

    private RateLimitedInstance registered() {
        RateLimitedInstance registered = instance;
        if (registered == null) {
            throw new IllegalStateException(threadName() + " is not open");
        }
        return registered;
    }
}
