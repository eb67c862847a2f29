// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SchedulerTest {
    private static final Duration GRACE = Duration.ofSeconds(20);

    /** A request with a number. */
    private static final class Job extends PendingRequest {
        final int number;
        final int size;
        /** Written by the runner, read after waiting. */
        int answer;

        Job(int number) {
            this(number, 1);
        }

        Job(int number, int size) {
            this.number = number;
            this.size = size;
        }

        @Override
        protected int size() {
            return size;
        }
    }

    /** A runner that takes a permit for each run and remembers what it ran. */
    private static class Recorder implements BatchRunner<Job> {
        final BlockingQueue<Integer> ran = new LinkedBlockingQueue<>();
        final BlockingQueue<Integer> batches = new LinkedBlockingQueue<>();
        final BlockingQueue<Boolean> permits = new LinkedBlockingQueue<>();
        final AtomicInteger closed = new AtomicInteger();
        volatile boolean gated;
        volatile long runNanos = 1_000_000;
        boolean boundToThread = true;

        @Override
        public String threadName() {
            return "runner";
        }

        @Override
        public boolean isBoundToThread() {
            return boundToThread;
        }

        @Override
        public void open() {}

        @Override
        public long run(List<Job> batch) {
            batch.forEach(job -> ran.add(job.number));
            batches.add(batch.size());
            try {
                if (gated && permits.poll(20, TimeUnit.SECONDS) == null) {
                    throw new AssertionError("no permit came");
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            batch.forEach(job -> job.answer = job.number + 1);
            return runNanos;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    @Test
    void shouldRunRequestsInTheOrderTheyCame() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(10), List.of(runner));
        Job first = new Job(0);
        assertThat(scheduler.submit(first)).isEqualTo(Admission.ACCEPTED);
        assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isZero();
        List<Job> jobs = new ArrayList<>();
        for (int i = 1; i < 5; i++) {
            Job job = new Job(i);
            jobs.add(job);
            assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
        }
        assertThat(scheduler.pendingCount()).isEqualTo(4);
        assertThat(scheduler.withdraw(jobs.get(1))).isTrue();
        assertThat(scheduler.withdraw(jobs.get(1))).as("only once").isFalse();
        assertThat(scheduler.withdraw(first)).as("runs already").isFalse();
        for (int i = 0; i < 4; i++) {
            runner.permits.add(true);
        }
        assertThat(jobs.get(3).await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(jobs.get(3).answer).isEqualTo(5);
        assertThat(runner.ran).containsExactly(1, 3, 4);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closed).hasValue(1);
    }

    @Test
    void shouldRefuseWhenTheQueueIsFullAndAfterClosing() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(1), List.of(runner));
        assertThat(scheduler.submit(new Job(0))).isEqualTo(Admission.ACCEPTED);
        assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isZero();
        Job waiting = new Job(1);
        assertThat(scheduler.submit(waiting)).isEqualTo(Admission.ACCEPTED);
        assertThat(scheduler.submit(new Job(2))).isEqualTo(Admission.QUEUE_FULL);
        assertThat(scheduler.close(Duration.ZERO)).as("still running").isFalse();
        assertThat(waiting.await(scheduler)).isEqualTo(PendingRequest.Outcome.REFUSED);
        assertThat(scheduler.submit(new Job(3))).isEqualTo(Admission.STOPPING);
        runner.permits.add(true);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldRunWhatWaitsBeforeItCloses() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        BatchPolicy policy = new BatchPolicy(4, List.of(4), GRACE.toNanos(), false, QueueCapacities.all(100));
        Scheduler<Job> scheduler = Scheduler.open(policy, List.of(runner));
        List<Job> jobs = List.of(new Job(0), new Job(1));
        jobs.forEach(scheduler::submit);
        scheduler.drain();
        assertThat(scheduler.submit(new Job(2))).isEqualTo(Admission.STOPPING);
        runner.permits.add(true);
        assertThat(scheduler.close(GRACE)).isTrue();
        for (Job job : jobs) {
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        }
        assertThat(runner.batches).as("without waiting for a fuller batch").containsExactly(2);
    }

    @Test
    void shouldGiveUpAWaitingRequestAtItsDeadlineButNotARunningOne() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(10), List.of(runner));
        Job running = new Job(0);
        running.limitWait(0, System.nanoTime() + GRACE.toNanos(), false);
        scheduler.submit(running);
        assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isZero();
        Job late = new Job(1);
        long soon = System.nanoTime() + 1_000_000;
        late.limitWait(0, soon, false);
        scheduler.submit(late);
        assertThat(late.await(scheduler)).isEqualTo(PendingRequest.Outcome.EXPIRED);
        assertThat(System.nanoTime()).isGreaterThanOrEqualTo(soon);
        runner.permits.add(true);
        assertThat(running.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        scheduler.close(GRACE);
    }

    @Test
    void shouldKeepTheInterruptOfAWaiterWhoseRequestRuns() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(10), List.of(runner));
        Job running = new Job(0);
        scheduler.submit(running);
        assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isZero();
        Thread.currentThread().interrupt();
        runner.permits.add(true);
        assertThat(running.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(Thread.interrupted()).isTrue();
        scheduler.close(GRACE);
    }

    @Test
    void shouldUseEveryInstance() throws Exception {
        List<Recorder> runners = List.of(new Recorder(), new Recorder(), new Recorder());
        runners.forEach(runner -> runner.gated = true);
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(10), runners);
        for (int i = 0; i < 3; i++) {
            scheduler.submit(new Job(i));
        }
        for (Recorder runner : runners) {
            assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isNotNull();
        }
        runners.forEach(runner -> runner.permits.add(true));
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldHelpOutWhenARunTakesLongerThanThoseBefore() throws Exception {
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        List<Recorder> runners = List.of(first, second);
        runners.forEach(runner -> runner.runNanos = 1000);
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(100), runners);
        for (int i = 0; i < 100; i++) {
            Job job = new Job(i);
            scheduler.submit(job);
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        }
        runners.forEach(runner -> runner.ran.clear());
        // One instance hangs in its run. The other takes every request that comes, however short runs used to be.
        second.gated = true;
        first.gated = true;
        Job hanging = new Job(-1);
        scheduler.submit(hanging);
        Recorder hung = awaitRun(runners);
        Recorder free = hung.equals(first) ? second : first;
        free.gated = false;
        for (int i = 0; i < 20; i++) {
            Job job = new Job(i);
            job.limitWait(0, System.nanoTime() + GRACE.toNanos(), false);
            assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        }
        assertThat(free.ran).hasSize(20);
        hung.permits.add(true);
        assertThat(hanging.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldRunTogetherWhatWaitsWhileAnInstanceIsBusy() throws Exception {
        Recorder runner = new Recorder();
        runner.gated = true;
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.upTo(4, 100), List.of(runner));
        scheduler.submit(new Job(0));
        assertThat(runner.ran.poll(20, TimeUnit.SECONDS)).isZero();
        List<Job> jobs = new ArrayList<>();
        for (int i = 1; i <= 6; i++) {
            Job job = new Job(i);
            jobs.add(job);
            scheduler.submit(job);
        }
        for (int i = 0; i < 3; i++) {
            runner.permits.add(true);
        }
        for (Job job : jobs) {
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
            assertThat(job.answer).isEqualTo(job.number + 1);
        }
        assertThat(runner.batches).containsExactly(1, 4, 2);
        assertThat(runner.ran).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldKeepAnIdleInstanceWaitingForABatchUntilTheDelayIsOver() {
        Recorder runner = new Recorder();
        long delay = TimeUnit.MILLISECONDS.toNanos(30);
        BatchPolicy policy = new BatchPolicy(4, List.of(4), delay, false, QueueCapacities.all(100));
        Scheduler<Job> scheduler = Scheduler.open(policy, List.of(runner, new Recorder()));
        long begin = System.nanoTime();
        Job first = new Job(1);
        scheduler.submit(first);
        Job second = new Job(2);
        scheduler.submit(second);
        assertThat(first.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(second.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(delay);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    /** One that is put back leaves the others, who came before that, with a size that is worth sending. */
    @Test
    void shouldSendTheBatchThatIsCompleteOnceARequestIsPutBack() {
        Recorder runner = new Recorder();
        long hour = TimeUnit.HOURS.toNanos(1);
        BatchPolicy policy = new BatchPolicy(8, List.of(4, 8), hour, false, QueueCapacities.all(100));
        Scheduler<Job> scheduler = Scheduler.open(policy, List.of(runner));
        Job late = new Job(1, 1);
        late.limitWait(0, System.nanoTime() + hour, true);
        List<Job> others = List.of(new Job(2, 2), new Job(3, 2));
        scheduler.submit(late);
        others.forEach(scheduler::submit);
        scheduler.expire(late);
        for (Job job : others) {
            assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        }
        assertThat(runner.ran).containsExactly(2, 3);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(late.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
    }

    /** The runner that has begun a run. */
    private static Recorder awaitRun(List<Recorder> runners) {
        Await.until("a run", () -> runners.stream().anyMatch(runner -> !runner.ran.isEmpty()));
        return runners.stream()
                .filter(runner -> !runner.ran.isEmpty())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldCloseTheOthersWhenOneRunnerDoesNotOpen() {
        Recorder good = new Recorder();
        Recorder bad = new Recorder() {
            @Override
            public void open() {
                throw new IllegalStateException("no memory");
            }
        };
        assertThatThrownBy(() -> Scheduler.open(BatchPolicy.single(1), List.of(good, bad)))
                .hasMessage("no memory");
        assertThat(good.closed).hasValue(1);
        assertThat(bad.closed).hasValue(0);
    }

    /** Every request that is accepted ends exactly once, whatever closing and withdrawing do meanwhile. */
    @Test
    void shouldEndEveryRequestOnce() throws Exception {
        for (int round = 0; round < 50; round++) {
            List<Recorder> runners = List.of(new Recorder(), new Recorder());
            Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(4), runners);
            AtomicInteger completed = new AtomicInteger();
            CountDownLatch begun = new CountDownLatch(8);
            List<Future<?>> clients = new ArrayList<>();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (int client = 0; client < 8; client++) {
                    int number = client;
                    clients.add(threads.submit(() -> {
                        begun.countDown();
                        for (int i = 0; i < 50; i++) {
                            Job job = new Job(number);
                            job.limitWait(0, number % 2 == 0 ? 0 : System.nanoTime() + 1000, false);
                            if (scheduler.submit(job) == Admission.ACCEPTED) {
                                if (job.await(scheduler) == PendingRequest.Outcome.COMPLETED) {
                                    assertThat(job.answer).isEqualTo(number + 1);
                                    completed.incrementAndGet();
                                }
                            }
                        }
                    }));
                }
                assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
                assertThat(scheduler.close(GRACE)).isTrue();
            }
            for (Future<?> client : clients) {
                client.get(1, TimeUnit.SECONDS);
            }
            int ran = runners.stream().mapToInt(runner -> runner.ran.size()).sum();
            assertThat(completed).hasValue(ran);
            assertThat(scheduler.pendingCount()).isZero();
        }
    }

    /** A request that breaks the scheduler: two of them cannot be compared. */
    private static final class Breaking extends PendingRequest {
        @Override
        protected boolean joins(PendingRequest first) {
            throw new IllegalStateException("a fault");
        }
    }

    /** Waits for a permit before its first run. */
    private static final class Gate implements BatchRunner<Breaking> {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch permit = new CountDownLatch(1);
        final CountDownLatch closed = new CountDownLatch(1);

        @Override
        public String threadName() {
            return "gate";
        }

        @Override
        public boolean isBoundToThread() {
            return true;
        }

        @Override
        public void open() {}

        @Override
        public long run(List<Breaking> batch) {
            begun.countDown();
            try {
                assertThat(permit.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            throw new IllegalStateException("a run that throws ends nothing");
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    @Test
    void shouldRefuseWhatWaitsWhenItsThreadEndsByAFault() throws Exception {
        Gate runner = new Gate();
        BatchPolicy pairs = BatchPolicy.upTo(2, 10);
        Scheduler<Breaking> scheduler = Scheduler.open(pairs, List.of(runner));
        Breaking running = new Breaking();
        assertThat(scheduler.submit(running)).isEqualTo(Admission.ACCEPTED);
        assertThat(runner.begun.await(20, TimeUnit.SECONDS)).isTrue();
        Breaking first = new Breaking();
        Breaking second = new Breaking();
        assertThat(scheduler.submit(first)).isEqualTo(Admission.ACCEPTED);
        assertThat(scheduler.submit(second)).isEqualTo(Admission.ACCEPTED);
        runner.permit.countDown();
        assertThat(running.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(first.await(scheduler)).isEqualTo(PendingRequest.Outcome.REFUSED);
        assertThat(second.await(scheduler)).isEqualTo(PendingRequest.Outcome.REFUSED);
        assertThat(scheduler.isBroken()).isTrue();
        assertThat(scheduler.submit(new Breaking())).isEqualTo(Admission.STOPPING);
        assertThat(runner.closed.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldSleepThoughItsRunnerLeftAnInterruptWhenItOpened() {
        List<Thread> opened = new ArrayList<>();
        Recorder runner = new Recorder() {
            @Override
            public void open() {
                opened.add(Thread.currentThread());
                Thread.currentThread().interrupt();
            }
        };
        Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(1), List.of(runner));
        Await.until("the mark is taken away", () -> !opened.getFirst().isInterrupted());
        assertThat(scheduler.close(GRACE)).isTrue();
    }
}
