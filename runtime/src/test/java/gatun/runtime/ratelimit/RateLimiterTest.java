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

    /** Ends the run of an instance, which has nothing more to run. */
    private static void end(RateLimitedInstance instance) {
        instance.recordRun();
        instance.decline();
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
        end(first);
        assertThat(next()).isEqualTo("third");
        end(second);
        end(third);
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
            end(instance);
        }
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        run(holder);
        // Weighed runs: 4, 3 and 2.
        waits("often", often);
        waits("low priority", lowPriority);
        waits("high priority", highPriority);
        end(holder);
        assertThat(next()).isEqualTo("high priority");
        end(highPriority);
        assertThat(next()).isEqualTo("low priority");
        end(lowPriority);
        assertThat(next()).isEqualTo("often");
        end(often);
    }

    @Test
    void shouldGiveTurnsByPriorityToInstancesThatAlwaysHaveMoreToRun() {
        RateLimiter limiter = RateLimiter.of(List.of());
        RateLimitedInstance high = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance low = limiter.register(needs("R", 1), 0, 2);
        run(high);
        waits("low", low);
        boolean highRuns = true;
        int turnsOfHigh = 0;
        for (int turn = 0; turn < 30; turn++) {
            turnsOfHigh += highRuns ? 1 : 0;
            RateLimitedInstance running = highRuns ? high : low;
            running.recordRun();
            assertThat(granted)
                    .as("before the one that has run says what it wants")
                    .isEmpty();
            if (!running.ask(() -> granted.add("again"))) {
                assertThat(granted).as("the other one").hasSize(1);
                granted.clear();
                highRuns = !highRuns;
            }
        }
        assertThat(turnsOfHigh).isBetween(19, 21);
    }

    @Test
    void shouldTakeResourcesThatNobodyStatesForMissingWhereSomeAreStated() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 3, 10)));
        assertThatThrownBy(() -> limiter.register(needs("R", 1), 0, 1)).hasMessageContaining("\"R\" is limited to 0 ");
        assertThatThrownBy(() -> limiter.register(needs("S", 1), 0, 1)).hasMessageContaining("\"S\" is limited to 0 ");
        assertThat(limiter.register(needs("R", 3), 10, 1)).isNotNull();
    }

    @Test
    void shouldNotLetSmallOnesPassAnInstanceThatNeedsMuch() {
        RateLimiter limiter = RateLimiter.of(List.of(new ResourceAmount("R", 2, 0)));
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance large = limiter.register(needs("R", 2), 0, 1);
        RateLimitedInstance small = limiter.register(needs("R", 1), 0, 1);
        run(small);
        end(small);
        run(holder);
        waits("large", large);
        waits("small", small);
        assertThat(granted).isEmpty();
        end(holder);
        assertThat(next()).isEqualTo("large");
        end(large);
        assertThat(next()).isEqualTo("small");
        end(small);
    }

    @Test
    void shouldKeepWhatEachDeviceHasApartAndShareWhatIsGlobal() {
        RateLimiter limiter = RateLimiter.of(
                List.of(new ResourceAmount("R", 1, ResourceAmount.EVERY_DEVICE), new ResourceAmount("G", 1, 3)));
        RateLimitedInstance here = limiter.register(needs("R", 1), 0, 1);
        RateLimitedInstance there = limiter.register(needs("R", 1), 1, 1);
        run(here);
        run(there);
        end(here);
        end(there);

        List<Need> shared = List.of(new Need("G", true, 1));
        RateLimitedInstance one = limiter.register(shared, 0, 1);
        RateLimitedInstance other = limiter.register(shared, 1, 1);
        run(one);
        waits("other", other);
        assertThat(granted).isEmpty();
        end(one);
        assertThat(next()).isEqualTo("other");
        end(other);
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
        end(holder);
        end(small);
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
        end(used);
        unused.decline();
        RateLimitedInstance holder = limiter.register(needs("R", 1), 0, 1);
        run(holder);
        waits("has run", used);
        waits("has not run", unused);
        granted.clear();
        end(holder);
        assertThat(granted).containsExactly("has not run");
        end(unused);
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
        end(holder);
        assertThat(granted).containsExactly("waiter");
        end(waiter);
        run(holder);
    }
}
