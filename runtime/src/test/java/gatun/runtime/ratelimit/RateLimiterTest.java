package gatun.runtime.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.GatunException;
import gatun.runtime.ResourceAmount;
import gatun.runtime.ratelimit.RateLimiter.Need;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RateLimiterTest {
    private final BlockingQueue<String> granted = new LinkedBlockingQueue<>();

    private static List<Need> needs(String name, int count) {
        return List.of(new Need(name, false, count));
    }

    /** Has a thread wait for its turn, and returns when it does. */
    private Thread waits(String name, RateLimitedInstance instance) {
        Thread thread = Thread.ofPlatform().start(() -> {
            instance.acquire();
            granted.add(name);
        });
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (thread.getState() != Thread.State.WAITING && thread.isAlive()) {
            assertThat(System.nanoTime()).as("waiting for %s to wait", name).isLessThan(deadline);
            Thread.onSpinWait();
        }
        return thread;
    }

    private String next() throws InterruptedException {
        return granted.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldLetAsManyRunAsThereAreResourcesFor() throws Exception {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 5, ResourceAmount.EVERY_DEVICE)));
        RateLimitedInstance first = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance second = limiter.register(needs("R", 3), 0, 1);
        RateLimitedInstance third = limiter.register(needs("R", 1), 0, 1);
        first.acquire();
        second.acquire();
        Thread waiter = waits("third", third);
        assertThat(granted).isEmpty();
        first.release();
        assertThat(next()).isEqualTo("third");
        waiter.join();
        second.release();
        third.release();
    }

    @Test
    void shouldLetThoseFirstThatHaveRunLeastByTheirPriority() throws Exception {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance often = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance lowPriority = limiter.register(needs("R", 1), 0, 3);
        RateLimitedInstance highPriority = limiter.register(needs("R", 1), 0, 1);
        for (RateLimitedInstance instance :
                List.of(often, often, often, often, lowPriority, highPriority, highPriority)) {
            instance.acquire();
            instance.release();
        }
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        holder.acquire();
        // Weighed runs: 4, 3 and 2.
        waits("often", often);
        waits("low priority", lowPriority);
        waits("high priority", highPriority);
        holder.release();
        assertThat(next()).isEqualTo("high priority");
        highPriority.release();
        assertThat(next()).isEqualTo("low priority");
        lowPriority.release();
        assertThat(next()).isEqualTo("often");
        often.release();
    }

    @Test
    void shouldNotLetSmallOnesPassAnInstanceThatNeedsMuch() throws Exception {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 2, 0)));
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance large = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance small = limiter.register(needs("R", 1), 0, 1);
        small.acquire();
        small.release();
        holder.acquire();
        waits("large", large);
        waits("small", small);
        assertThat(granted).isEmpty();
        holder.release();
        assertThat(next()).isEqualTo("large");
        large.release();
        assertThat(next()).isEqualTo("small");
        small.release();
    }

    @Test
    void shouldKeepWhatEachDeviceHasApartAndShareWhatIsGlobal() throws Exception {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 1, ResourceAmount.EVERY_DEVICE)));
        RateLimitedInstance here = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance there = limiter.register(needs("R", 1), 1, 1);
        here.acquire();
        there.acquire();
        here.release();
        there.release();

        List<Need> shared = List.of(new Need("G", true, 1));
        RateLimitedInstance one = limiter.register(shared, 0, 1);
        RateLimitedInstance other = limiter.register(shared, 1, 1);
        one.acquire();
        waits("other", other);
        assertThat(granted).isEmpty();
        one.release();
        assertThat(next()).isEqualTo("other");
        other.release();
    }

    @Test
    void shouldRefuseAnInstanceThatCouldNeverRun() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 3, ResourceAmount.EVERY_DEVICE)));
        assertThatThrownBy(() -> limiter.register(needs("R", 4), 0, 1))
                .isInstanceOf(GatunException.class)
                .hasMessage(
                        "Resource count for \"R\" is limited to 3 which will prevent scheduling of one or more model"
                                + " instances, the minimum required count is 4");
    }

    @Test
    void shouldRefuseAResourceThatIsBothGlobalAndOfADevice() {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance first = limiter.register(needs("R", 1), 0, 1);
        List<Need> global = List.of(new Need("R", true, 1));
        assertThatThrownBy(() -> limiter.register(global, 0, 1))
                .hasMessage("Resource \"R\" is present as both global and device-specific resource in the model"
                        + " configuration.");
        first.close();
        assertThat(limiter.register(global, 0, 1)).isNotNull();
    }
}
