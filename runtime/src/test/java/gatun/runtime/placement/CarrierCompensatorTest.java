// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.InlineRunLimiter.CarrierCompensator;
import gatun.runtime.placement.InlineRunLimiter.Carriers;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.testing.Await;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The number of carrier threads when runs hold all of them. */
@Timeout(60)
class CarrierCompensatorTest {
    private static final int CARRIERS = 2;

    private final InlineRunLimiter runs = new InlineRunLimiter(CARRIERS);
    private final LinkedBlockingQueue<Integer> carriers = new LinkedBlockingQueue<>();

    private void watch(Supplier<Optional<IntConsumer>> adjustable) {
        runs.watchedBy(new LoanWatchdog().over(new CarrierCompensator(runs, adjustable, CARRIERS)));
    }

    private Thread run(CountDownLatch end) {
        CountDownLatch begun = new CountDownLatch(1);
        Thread run = Thread.ofVirtual().name("run").start(() -> {
            boolean may = runs.tryBegin(RunTimeEstimator.SHORT_NANOS);
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
        watch(() -> Optional.of(carriers::add));
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
        watch(() -> {
            asked.incrementAndGet();
            known.countDown();
            return Optional.empty();
        });
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
