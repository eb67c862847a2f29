// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CooperativeYieldTest {
    /** Work without an end for every carrier there is: without yields the last thread would never begin. */
    @Test
    void shouldLetOthersRunBetweenTheStepsOfLongWork() throws Exception {
        int count = 2 * Runtime.getRuntime().availableProcessors();
        CompletableFuture<Boolean> others = new CompletableFuture<>();
        AtomicInteger begun = new AtomicInteger();
        List<Thread> busy = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            busy.add(Thread.ofVirtual().name("busy-" + i).start(() -> {
                CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
                begun.incrementAndGet();
                while (begun.get() < count || !others.isDone()) {
                    work.worked(1);
                }
            }));
        }
        Thread.ofVirtual().name("other").start(() -> others.complete(true));
        assertThat(others.get(20, TimeUnit.SECONDS)).isTrue();
        for (Thread thread : busy) {
            thread.join();
        }
    }
}
