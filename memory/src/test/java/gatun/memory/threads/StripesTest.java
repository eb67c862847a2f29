// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.ThreadCore;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StripesTest {
    @Test
    void shouldBeAsManyAsCoresRoundedUpToAPowerOfTwo() {
        int cores = Runtime.getRuntime().availableProcessors();
        assertThat(Integer.bitCount(Stripes.count())).isOne();
        assertThat(Stripes.count()).isGreaterThanOrEqualTo(cores).isLessThan(2 * cores);
    }

    @Test
    void shouldTellVirtualThreadsAStripe() throws Exception {
        CompletableFuture<Integer> stripe = new CompletableFuture<>();
        Thread.startVirtualThread(() -> stripe.complete(Stripes.current()));
        assertThat(stripe.get(20, TimeUnit.SECONDS)).isBetween(0, Stripes.count() - 1);
    }

    @Test
    void shouldBeAnotherOnEachCore() {
        BitSet cores = ThreadCore.allowed();
        assumeThat(cores.cardinality()).isEqualTo(Runtime.getRuntime().availableProcessors());
        Set<Integer> stripes = new HashSet<>();
        cores.stream().forEach(core -> stripes.add(stripeOn(core)));
        assertThat(stripes).hasSize(cores.cardinality());
    }

    /** The system may move the thread back before it has asked. */
    private static int stripeOn(int core) {
        while (true) {
            assertThat(ThreadCore.moveTo(core)).isTrue();
            int stripe = Stripes.current();
            if (ThreadCore.current() == core) {
                return stripe;
            }
        }
    }
}
