package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
class DirectSchedulerTest {
    private static final Duration GRACE = Duration.ofSeconds(20);

    /** A ticket with a number. */
    private static final class Job extends Ticket {
        final int number;
        /** Written by the worker, read after waiting. */
        int answer;

        Job(int number) {
            this.number = number;
        }
    }

    /** A worker that takes a permit for each run and remembers what it ran. */
    private static class Recorder implements Worker<Job> {
        final BlockingQueue<Integer> ran = new LinkedBlockingQueue<>();
        final BlockingQueue<Boolean> permits = new LinkedBlockingQueue<>();
        final AtomicInteger closed = new AtomicInteger();
        volatile boolean gated;
        volatile long runNanos = 1_000_000;

        @Override
        public String threadName() {
            return "worker";
        }

        @Override
        public void open() {}

        @Override
        public long run(Job job) {
            ran.add(job.number);
            try {
                if (gated && permits.poll(20, TimeUnit.SECONDS) == null) {
                    throw new AssertionError("no permit came");
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            job.answer = job.number + 1;
            return runNanos;
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    @Test
    void shouldRunTicketsInTheOrderTheyCame() throws Exception {
        Recorder worker = new Recorder();
        worker.gated = true;
        DirectScheduler<Job> scheduler = DirectScheduler.open(10, List.of(worker));
        Job first = new Job(0);
        assertThat(scheduler.submit(first)).isEqualTo(Admission.ACCEPTED);
        assertThat(worker.ran.poll(20, TimeUnit.SECONDS)).isZero();
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
            worker.permits.add(true);
        }
        assertThat(jobs.get(3).await(scheduler, 0)).isEqualTo(Ticket.Outcome.COMPLETED);
        assertThat(jobs.get(3).answer).isEqualTo(5);
        assertThat(worker.ran).containsExactly(1, 3, 4);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(worker.closed).hasValue(1);
    }

    @Test
    void shouldRefuseWhenTheQueueIsFullAndAfterClosing() throws Exception {
        Recorder worker = new Recorder();
        worker.gated = true;
        DirectScheduler<Job> scheduler = DirectScheduler.open(1, List.of(worker));
        assertThat(scheduler.submit(new Job(0))).isEqualTo(Admission.ACCEPTED);
        Job waiting = new Job(1);
        assertThat(scheduler.submit(waiting)).isEqualTo(Admission.ACCEPTED);
        assertThat(scheduler.submit(new Job(2))).isEqualTo(Admission.QUEUE_FULL);
        assertThat(scheduler.close(Duration.ZERO)).as("still running").isFalse();
        assertThat(waiting.await(scheduler, 0)).isEqualTo(Ticket.Outcome.REFUSED);
        assertThat(scheduler.submit(new Job(3))).isEqualTo(Admission.STOPPING);
        worker.permits.add(true);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldGiveUpAWaitingTicketAtItsDeadlineButNotARunningOne() throws Exception {
        Recorder worker = new Recorder();
        worker.gated = true;
        DirectScheduler<Job> scheduler = DirectScheduler.open(10, List.of(worker));
        Job running = new Job(0);
        scheduler.submit(running);
        Job late = new Job(1);
        scheduler.submit(late);
        long past = System.nanoTime() - 1;
        assertThat(late.await(scheduler, past)).isEqualTo(Ticket.Outcome.EXPIRED);
        worker.permits.add(true);
        assertThat(running.await(scheduler, past)).isEqualTo(Ticket.Outcome.COMPLETED);
        scheduler.close(GRACE);
    }

    @Test
    void shouldKeepTheInterruptOfAWaiterWhoseTicketRuns() throws Exception {
        Recorder worker = new Recorder();
        worker.gated = true;
        DirectScheduler<Job> scheduler = DirectScheduler.open(10, List.of(worker));
        Job running = new Job(0);
        scheduler.submit(running);
        assertThat(worker.ran.poll(20, TimeUnit.SECONDS)).isZero();
        Thread.currentThread().interrupt();
        worker.permits.add(true);
        assertThat(running.await(scheduler, 0)).isEqualTo(Ticket.Outcome.COMPLETED);
        assertThat(Thread.interrupted()).isTrue();
        scheduler.close(GRACE);
    }

    @Test
    void shouldUseEveryInstance() throws Exception {
        List<Recorder> workers = List.of(new Recorder(), new Recorder(), new Recorder());
        workers.forEach(worker -> worker.gated = true);
        DirectScheduler<Job> scheduler = DirectScheduler.open(10, workers);
        for (int i = 0; i < 3; i++) {
            scheduler.submit(new Job(i));
        }
        for (Recorder worker : workers) {
            assertThat(worker.ran.poll(20, TimeUnit.SECONDS)).isNotNull();
            worker.permits.add(true);
        }
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    @Test
    void shouldHelpOutWhenARunTakesLongerThanThoseBefore() throws Exception {
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        List<Recorder> workers = List.of(first, second);
        workers.forEach(worker -> worker.runNanos = 1000);
        DirectScheduler<Job> scheduler = DirectScheduler.open(100, workers);
        for (int i = 0; i < 100; i++) {
            Job job = new Job(i);
            scheduler.submit(job);
            assertThat(job.await(scheduler, 0)).isEqualTo(Ticket.Outcome.COMPLETED);
        }
        workers.forEach(worker -> worker.ran.clear());
        // One instance hangs in its run. The other takes every ticket that comes, however short runs used to be.
        second.gated = true;
        first.gated = true;
        Job hanging = new Job(-1);
        scheduler.submit(hanging);
        Recorder hung = awaitRun(workers);
        Recorder free = hung.equals(first) ? second : first;
        free.gated = false;
        for (int i = 0; i < 20; i++) {
            Job job = new Job(i);
            assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
            assertThat(job.await(scheduler, System.nanoTime() + GRACE.toNanos()))
                    .isEqualTo(Ticket.Outcome.COMPLETED);
        }
        assertThat(free.ran).hasSize(20);
        hung.permits.add(true);
        assertThat(hanging.await(scheduler, 0)).isEqualTo(Ticket.Outcome.COMPLETED);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    /** The worker that has begun a run. */
    private static Recorder awaitRun(List<Recorder> workers) {
        long deadline = System.nanoTime() + GRACE.toNanos();
        while (true) {
            for (Recorder worker : workers) {
                if (!worker.ran.isEmpty()) {
                    return worker;
                }
            }
            assertThat(System.nanoTime()).as("waiting for a run").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldCloseTheOthersWhenOneWorkerDoesNotOpen() {
        Recorder good = new Recorder();
        Recorder bad = new Recorder() {
            @Override
            public void open() {
                throw new IllegalStateException("no memory");
            }
        };
        assertThatThrownBy(() -> DirectScheduler.open(1, List.of(good, bad))).hasMessage("no memory");
        assertThat(good.closed).hasValue(1);
        assertThat(bad.closed).hasValue(0);
    }

    /** Every ticket that is accepted ends exactly once, whatever closing and withdrawing do meanwhile. */
    @Test
    void shouldEndEveryTicketOnce() throws Exception {
        for (int round = 0; round < 50; round++) {
            List<Recorder> workers = List.of(new Recorder(), new Recorder());
            DirectScheduler<Job> scheduler = DirectScheduler.open(4, workers);
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
                            if (scheduler.submit(job) == Admission.ACCEPTED) {
                                long deadline = number % 2 == 0 ? 0 : System.nanoTime() + 1000;
                                if (job.await(scheduler, deadline) == Ticket.Outcome.COMPLETED) {
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
            int ran = workers.stream().mapToInt(worker -> worker.ran.size()).sum();
            assertThat(completed).hasValue(ran);
            assertThat(scheduler.pendingCount()).isZero();
        }
    }
}
