// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.scheduling.Dispatcher.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads of instances that end when there is no work, and come again with it. */
@Timeout(60)
class RestingInstanceTest {
    private static final Duration GRACE = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofHours(1);

    private static final class Job extends PendingRequest {
        volatile Thread ranOn = Thread.currentThread();
    }

    /** A runner whose runs are too long for the threads of requests. */
    private static final class Runner implements BatchRunner<Job> {
        final boolean boundToThread;
        final AtomicInteger closed = new AtomicInteger();
        volatile Thread openedOn = Thread.currentThread();

        Runner(boolean boundToThread) {
            this.boundToThread = boundToThread;
        }

        @Override
        public String threadName() {
            return "runner";
        }

        @Override
        public boolean isBoundToThread() {
            return boundToThread;
        }

        @Override
        public void open() {
            openedOn = Thread.currentThread();
        }

        @Override
        public long run(List<Job> batch) {
            batch.forEach(job -> job.ranOn = Thread.currentThread());
            return 2 * RunTimeEstimator.LONG_NANOS;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private static Scheduler<Job> open(Duration idle, Runner... runners) {
        return Scheduler.open(
                BatchPolicy.single(10_000),
                List.of(runners),
                AdaptiveBatchDelayTest.learning(),
                RunPlacement.of(true),
                idle);
    }

    private static Thread run(Scheduler<Job> scheduler) {
        Job job = new Job();
        assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
        assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        return job.ranOn;
    }

    @Test
    void shouldHaveNoThreadBeforeTheFirstWork() throws Exception {
        Runner runner = new Runner(false);
        Scheduler<Job> scheduler = open(LONG, runner);
        assertThat(runner.openedOn.join(GRACE))
                .as("the thread that opened it ends")
                .isTrue();
        Thread ranOn = run(scheduler);
        assertThat(ranOn).isNotEqualTo(runner.openedOn).isNotEqualTo(Thread.currentThread());
        assertThat(ranOn.getName()).isEqualTo("runner");
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closed).hasValue(1);
    }

    @Test
    void shouldCloseARunnerThatNeverRan() {
        Runner runner = new Runner(false);
        Scheduler<Job> scheduler = open(LONG, runner);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closed).hasValue(1);
    }

    @Test
    void shouldKeepItsThreadForTheNextWork() {
        Scheduler<Job> scheduler = open(LONG, new Runner(false));
        Thread first = run(scheduler);
        assertThat(run(scheduler)).isEqualTo(first);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldEndAThreadThatHasNoWorkForLong() throws Exception {
        Runner runner = new Runner(false);
        Scheduler<Job> scheduler = open(Duration.ZERO, runner);
        Thread first = run(scheduler);
        assertThat(first.join(GRACE)).as("its end").isTrue();
        assertThat(run(scheduler)).isNotEqualTo(first);
        assertThat(runner.closed).hasValue(0);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closed).hasValue(1);
    }

    @Test
    void shouldKeepTheThreadThatARunnerIsBoundTo() {
        Runner runner = new Runner(true);
        Scheduler<Job> scheduler = open(Duration.ZERO, runner);
        assertThat(run(scheduler)).isEqualTo(runner.openedOn);
        assertThat(run(scheduler)).isEqualTo(runner.openedOn);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldLoseNoWorkToThreadsThatEnd() throws Exception {
        Runner first = new Runner(false);
        Runner second = new Runner(false);
        Scheduler<Job> scheduler = open(Duration.ZERO, first, second);
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            for (int client = 0; client < 3; client++) {
                clients.add(threads.submit(() -> {
                    for (int i = 0; i < 1000; i++) {
                        run(scheduler);
                    }
                }));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(first.closed).hasValue(1);
        assertThat(second.closed).hasValue(1);
    }
}
