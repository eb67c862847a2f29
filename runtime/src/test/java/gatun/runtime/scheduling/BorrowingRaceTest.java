// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.scheduling.Dispatcher.Admission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads that borrow the same few instances, with the lock and without. */
@Timeout(120)
class BorrowingRaceTest {
    private static final Duration GRACE = Duration.ofSeconds(20);
    private static final int THREADS = 6;
    private static final int REQUESTS = 20_000;

    /** A run in so many is unlike those before. */
    private static final int ODD_RUN = 97;

    private static final class Job extends PendingRequest {
        /** Written by the run and read by the thread that waits: nothing else orders them. */
        int runs;
    }

    private static final class Runner implements BatchRunner<Job> {
        final AtomicInteger running = new AtomicInteger();

        /** Written by each run, and ordered by nothing but the hand-over of the instance. */
        int count;

        volatile boolean overlapped;

        @Override
        public String threadName() {
            return "runner";
        }

        @Override
        public boolean isBoundToThread() {
            return false;
        }

        @Override
        public void open() {}

        @Override
        public long run(List<Job> batch) {
            overlapped |= running.incrementAndGet() > 1;
            count += batch.size();
            batch.forEach(job -> job.runs++);
            running.decrementAndGet();
            return count % ODD_RUN == 0 ? 500_000 : 1000;
        }

        @Override
        public void close() {}
    }

    private static void submit(Scheduler<Job> scheduler, int requests) {
        for (int i = 0; i < requests; i++) {
            Job job = new Job();
            assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
            assertThat(job.runs).isEqualTo(1);
        }
    }

    private static void submitFromThreads(Scheduler<Job> scheduler, boolean virtual) throws Exception {
        try (ExecutorService threads =
                virtual ? Executors.newVirtualThreadPerTaskExecutor() : Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                clients.add(threads.submit(() -> submit(scheduler, REQUESTS)));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void shouldRunEachRequestOnceAndNoTwoByOneInstance(int instances) throws Exception {
        List<Runner> runners =
                IntStream.range(0, instances).mapToObj(i -> new Runner()).toList();
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(THREADS), runners);

        submitFromThreads(scheduler, false);
        submitFromThreads(scheduler, true);

        assertThat(scheduler.close(GRACE)).isTrue();
        int all = 2 * THREADS * REQUESTS;
        assertThat(runners).noneMatch(runner -> runner.overlapped);
        assertThat(runners.stream().mapToInt(runner -> runner.count).sum()).isEqualTo(all);
        RunCounts counts = scheduler.runCounts();
        assertThat(counts.onRequestThreads() + counts.onInstanceThreads()).isEqualTo(all);
        assertThat(counts.onRequestThreads()).isPositive();
    }

    @Test
    void shouldExchangeInstancesWhileTheyAreBorrowed() throws Exception {
        Runner first = new Runner();
        List<Runner> all = new ArrayList<>(List.of(first));
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(THREADS), List.of(first));
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                clients.add(threads.submit(() -> submit(scheduler, REQUESTS)));
            }
            for (int i = 0; i < 20; i++) {
                Runner next = new Runner();
                assertThat(scheduler.exchange(List.of(next), List.of(all.getLast())))
                        .isTrue();
                all.add(next);
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(all).noneMatch(runner -> runner.overlapped);
        assertThat(all.stream().mapToInt(runner -> runner.count).sum()).isEqualTo(THREADS * REQUESTS);
    }
}
