// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of carrier threads when runs hold all of them. */
@Timeout(60)
class CarrierWatchTest {
    private static final int CARRIERS = 2;

    private final InlineRuns runs = new InlineRuns(CARRIERS - 1);
    private final LinkedBlockingQueue<Integer> carriers = new LinkedBlockingQueue<>();

    private Thread run(CountDownLatch end) {
        CountDownLatch begun = new CountDownLatch(1);
        Thread run = Thread.ofVirtual().name("run").start(() -> {
            boolean may = runs.tryBegin() > 0;
            begun.countDown();
            if (may) {
                Await.opened(end);
                runs.end();
            }
        });
        Await.opened(begun);
        return run;
    }

    @Test
    void shouldAddACarrierWhileTheSameRunsHoldAll() throws Exception {
        CarrierWatch watch = new CarrierWatch(runs, () -> Optional.of(carriers::add), CARRIERS);
        runs.onFull(watch::wakeUp);
        CountDownLatch end = new CountDownLatch(1);

        run(end);
        awaitLimit();
        Thread second = run(end);

        assertThat(carriers.poll(20, TimeUnit.SECONDS)).isEqualTo(CARRIERS + 1);
        assertThat(carriers).isEmpty();
        end.countDown();
        second.join();
        assertThat(carriers.poll(20, TimeUnit.SECONDS)).isEqualTo(CARRIERS);
    }

    /** The watch has seen that it can add carriers. */
    private void awaitLimit() {
        Await.until("more carriers", () -> !runs.isFull(1));
    }

    @Test
    void shouldLeaveACarrierWhereNoneCanBeAdded() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch known = new CountDownLatch(1);
        CarrierWatch watch = new CarrierWatch(
                runs,
                () -> {
                    asked.incrementAndGet();
                    known.countDown();
                    return Optional.empty();
                },
                CARRIERS);
        runs.onFull(watch::wakeUp);
        CountDownLatch end = new CountDownLatch(1);

        Thread first = run(end);
        Await.opened(known);
        Thread second = run(end);
        second.join();

        assertThat(runs.isFull(1)).as("one run is all that may be").isTrue();
        assertThat(asked).hasValue(1);
        end.countDown();
        first.join();
    }

    @Test
    void shouldChangeTheCarriersOfThisJvmWhereItCan() {
        boolean can = Runtime.version().feature() >= 24;

        assertThat(Carriers.ofThisJvm().isPresent()).isEqualTo(can);
        Carriers.ofThisJvm().ifPresent(parallelism -> {
            parallelism.accept(Carriers.count() + 1);
            parallelism.accept(Carriers.count());
        });
    }
}
