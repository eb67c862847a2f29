// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ResourceAmount;
import gatun.runtime.ratelimit.RateLimitedRunner;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelRateLimiter;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The turns of a simulated scheduler's instances, as the real rate limiter gives them to those and to somebody else.
 */
final class SimulatedTurns implements RunPermits {
    private static final long HOLDING_NANOS = 400_000;

    private final int amount;
    private final int need;
    private final IntConsumer wake;
    private final List<BatchRunner<PendingRequest>> runners;
    private int running;

    /** A runner that does nothing. */
    private static final class Idle implements BatchRunner<PendingRequest> {
        @Override
        public String threadName() {
            return "simulated";
        }

        @Override
        public void open() {}

        @Override
        public boolean isBoundToThread() {
            return true;
        }

        @Override
        public long run(List<PendingRequest> batch) {
            return 0;
        }

        @Override
        public void close() {}
    }

    /**
     * RunPermits for {@code instanceCount} instances.
     *
     * @param horizonNanos how long somebody else comes now and then
     * @param wake called with the instance whose turn has come
     */
    SimulatedTurns(Random random, EventLoop loop, int instanceCount, long horizonNanos, IntConsumer wake) {
        this.wake = wake;
        amount = 1 + random.nextInt(3);
        need = 1 + random.nextInt(amount);
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", amount, 0)));
        runners = IntStream.range(0, instanceCount)
                .mapToObj(i -> limited(limiter, need))
                .toList();
        int others = random.nextInt(6);
        for (int i = 0; i < others; i++) {
            BatchRunner<PendingRequest> other = limited(limiter, 1 + random.nextInt(amount));
            long holdingNanos = 1 + random.nextLong(HOLDING_NANOS);
            Runnable holds = () -> loop.after(holdingNanos, () -> {
                other.run(List.of());
                turn(other).decline();
            });
            loop.after(random.nextLong(horizonNanos), () -> {
                if (turn(other).ask(holds)) {
                    holds.run();
                }
            });
        }
    }

    private static BatchRunner<PendingRequest> limited(RateLimiter limiter, int count) {
        ModelInstanceGroup group = ModelInstanceGroup.newBuilder()
                .setRateLimiter(ModelRateLimiter.newBuilder()
                        .addResources(ModelRateLimiter.Resource.newBuilder()
                                .setName("R")
                                .setCount(count)))
                .build();
        BatchRunner<PendingRequest> runner = RateLimitedRunner.of(new Idle(), group, limiter);
        runner.open();
        return runner;
    }

    private static RunPermit turn(BatchRunner<PendingRequest> runner) {
        return runner.turn().orElseThrow();
    }

    @Override
    public boolean ask(int instance) {
        return turn(runners.get(instance)).ask(() -> wake.accept(instance));
    }

    @Override
    public void decline(int instance) {
        turn(runners.get(instance)).decline();
    }

    /** Notes that an instance begins a run. */
    void begin() {
        running++;
        assertThat(running * need).as("resources that are used at a time").isLessThanOrEqualTo(amount);
    }

    /** Ends an instance's run, and with it its turn. */
    void end(int instance) {
        running--;
        runners.get(instance).run(List.of());
    }

    /** Checks that nobody holds anything or waits for it any more. */
    void checkNothingIsLeft() {
        assertThat(running).as("runs that did not end").isZero();
        for (BatchRunner<PendingRequest> runner : runners) {
            assertThat(turn(runner).ask(() -> {})).as("a turn that can be had").isTrue();
            turn(runner).decline();
        }
    }
}
