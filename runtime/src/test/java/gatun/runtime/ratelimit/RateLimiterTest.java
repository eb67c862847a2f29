// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ResourceAmount;
import gatun.runtime.ratelimit.RateLimiter.Need;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class RateLimiterTest {
    private final Queue<String> granted = new ArrayDeque<>();

    private static List<Need> needs(String name, int count) {
        return List.of(new Need(name, false, count));
    }

    /** Gives an instance what it needs, which is there. */
    private static void run(RateLimitedInstance instance) {
        assertThat(instance.ask(() -> {})).as("there is enough").isTrue();
    }

    /** Has an instance ask for what is not there. */
    private void waits(String name, RateLimitedInstance instance) {
        assertThat(instance.ask(() -> granted.add(name)))
                .as("there is too little")
                .isFalse();
    }

    private String next() {
        return granted.poll();
    }

    @Test
    void shouldLetAsManyRunAsThereAreResourcesFor() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 5, ResourceAmount.EVERY_DEVICE)));
        RateLimitedInstance first = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance second = limiter.register(needs("R", 3), 0, 1);
        RateLimitedInstance third = limiter.register(needs("R", 1), 0, 1);
        run(first);
        run(second);
        waits("third", third);
        assertThat(granted).isEmpty();
        first.release();
        assertThat(next()).isEqualTo("third");
        second.release();
        third.release();
    }

    @Test
    void shouldLetThoseFirstThatHaveRunLeastByTheirPriority() {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance often = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance lowPriority = limiter.register(needs("R", 1), 0, 3);
        RateLimitedInstance highPriority = limiter.register(needs("R", 1), 0, 1);
        for (RateLimitedInstance instance :
                List.of(often, often, often, often, lowPriority, highPriority, highPriority)) {
            run(instance);
            instance.release();
        }
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        run(holder);
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
    void shouldNotLetSmallOnesPassAnInstanceThatNeedsMuch() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 2, 0)));
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance large = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance small = limiter.register(needs("R", 1), 0, 1);
        run(small);
        small.release();
        run(holder);
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
    void shouldKeepWhatEachDeviceHasApartAndShareWhatIsGlobal() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 1, ResourceAmount.EVERY_DEVICE)));
        RateLimitedInstance here = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance there = limiter.register(needs("R", 1), 1, 1);
        run(here);
        run(there);
        here.release();
        there.release();

        List<Need> shared = List.of(new Need("G", true, 1));
        RateLimitedInstance one = limiter.register(shared, 0, 1);
        RateLimitedInstance other = limiter.register(shared, 1, 1);
        run(one);
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

    @Test
    void shouldLetOthersPassAnInstanceThatGivesItsTurnUpWhileItWaits() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 2, 0)));
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance large = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance small = limiter.register(needs("R", 1), 0, 2);
        run(holder);
        waits("large", large);
        waits("small", small);
        large.decline();
        assertThat(granted).containsExactly("small");
        assertThat(small.ask(() -> granted.add("again"))).as("it has its turn").isTrue();
        holder.release();
        small.release();
        assertThat(granted).containsExactly("small");
    }

    @Test
    void shouldCountNoRunForATurnThatWasNotUsed() {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance unused = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance used = limiter.register(needs("R", 1), 0, 1);
        run(unused);
        unused.decline();
        run(used);
        waits("used", unused);
        used.release();
        unused.decline();
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        run(holder);
        waits("has run", used);
        waits("has not run", unused);
        granted.clear();
        holder.release();
        assertThat(granted).containsExactly("has not run");
        unused.release();
        assertThat(granted).containsExactly("has not run", "has run");
    }

    @Test
    void shouldAskOnlyOnceForAnInstanceThatAsksWhileItWaits() {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance waiter = limiter.register(needs("R", 1), 0, 1);
        run(holder);
        waits("waiter", waiter);
        waits("waiter again", waiter);
        holder.release();
        assertThat(granted).containsExactly("waiter");
        waiter.release();
        run(holder);
    }
}
