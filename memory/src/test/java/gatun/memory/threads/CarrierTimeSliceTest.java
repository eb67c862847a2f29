// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.memory.threads.CooperativeYield.CarrierTimeSlice;
import gatun.memory.threads.CooperativeYield.CarrierTimeSlice.CarrierQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CarrierTimeSliceTest {
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
                CarrierTimeSlice turn = new CarrierTimeSlice();
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

    @Test
    void shouldKeepTheCarrierWhileNobodyWaits() throws InterruptedException {
        assertThat(yieldsAfterALongTurn(new CarrierTimeSlice(() -> true))).isZero();
        assertThat(yieldsAfterALongTurn(new CarrierTimeSlice(() -> false))).isOne();
    }

    private static long yieldsAfterALongTurn(CarrierTimeSlice turn) throws InterruptedException {
        AtomicLong yields = new AtomicLong();
        Thread thread = Thread.startVirtualThread(() -> {
            long before = CooperativeYield.count();
            long began = System.nanoTime();
            while (System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(3)) {
                Thread.onSpinWait();
            }
            turn.begin();
            yields.set(CooperativeYield.count() - before);
        });
        thread.join();
        return yields.get();
    }

    @Test
    void shouldBeToldByTheJdkThatAThreadWaits() throws InterruptedException {
        assertThat(CarrierQueue.isKnown()).isEqualTo(Runtime.version().feature() >= 24);
        assumeThat(CarrierQueue.isKnown()).isTrue();
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < BUSY; i++) {
            threads.add(Thread.startVirtualThread(() -> {
                while (!stop.get()) {
                    Thread.onSpinWait(); // never waits
                }
            }));
        }

        long waiting = CarrierQueue.length();
        stop.set(true);

        assertThat(waiting).as("those who find no carrier").isPositive();
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(20))).isTrue();
        }
    }
}
