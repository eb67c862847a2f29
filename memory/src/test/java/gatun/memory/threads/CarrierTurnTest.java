// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class CarrierTurnTest {
    /** More than there are carriers. */
    private static final int BUSY = 2 * Runtime.getRuntime().availableProcessors();

    @Test
    void shouldGiveWayToThoseWhoWaitForACarrier() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch busy = new CountDownLatch(BUSY);
        CountDownLatch other = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < BUSY; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                CarrierTurn turn = new CarrierTurn();
                busy.countDown();
                while (!stop.get()) {
                    turn.end(turn.begin()); // never waits
                }
            }));
        }

        boolean allRan = busy.await(20, TimeUnit.SECONDS);
        threads.add(Thread.ofVirtual().start(other::countDown));
        boolean otherRan = other.await(20, TimeUnit.SECONDS);
        stop.set(true);

        assertThat(allRan).isTrue();
        assertThat(otherRan).isTrue();
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(20))).isTrue();
        }
    }
}
