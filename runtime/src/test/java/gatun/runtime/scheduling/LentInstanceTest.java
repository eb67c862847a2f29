// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.ModelVersion.RunCounts;
import gatun.runtime.placement.InlineRunLimiter;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.spi.Tuning;
import gatun.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Short runs on the threads that bring the requests. */
class LentInstanceTest {
    private static final Duration GRACE = Duration.ofSeconds(20);

    private static final class Job extends PendingRequest {
        volatile Thread ranOn = Thread.currentThread();
        volatile boolean taken;
        volatile boolean takenBefore;

        @Override
        protected void taken() {
            taken = true;
        }
    }

    /** A runner whose runs wait for a permit while it is gated. */
    private static final class Runner implements BatchRunner<Job> {
        final boolean boundToThread;
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final BlockingQueue<Boolean> begun = new LinkedBlockingQueue<>();
        final BlockingQueue<Boolean> permits = new LinkedBlockingQueue<>();
        volatile boolean gated;
        volatile boolean interrupts;
        volatile boolean broken;
        volatile long runNanos = 1000;
        volatile Thread closedOn = Thread.currentThread();

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
            if (broken) {
                throw new IllegalStateException("broken");
            }
        }

        @Override
        public long run(List<Job> batch) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            batch.forEach(job -> job.ranOn = Thread.currentThread());
            batch.forEach(job -> job.takenBefore = job.taken);
            if (interrupts) {
                Thread.currentThread().interrupt();
            }
            if (gated) {
                begun.add(true);
                takePermit();
            }
            running.decrementAndGet();
            return runNanos;
        }

        private void takePermit() {
            try {
                assertThat(permits.poll(20, TimeUnit.SECONDS)).as("a permit").isNotNull();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            closedOn = Thread.currentThread();
        }
    }

    private final Runner runner = new Runner(false);
    private Scheduler<Job> scheduler = Scheduler.open(BatchPolicy.single(10), List.of(runner));

    @AfterEach
    void close() {
        runner.permits.add(true);
        runner.permits.add(true);
        assertThat(scheduler.close(GRACE)).isTrue();
    }

    private Job run() {
        Job job = new Job();
        assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
        assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        return job;
    }

    private void earnTrust() {
        for (int i = 0; i < RunTimeEstimator.FIRST_TRIAL; i++) {
            run();
        }
        awaitLoan();
    }

    /** Runs until a run is on this thread: an instance's thread ends a request before it is idle again. */
    private void awaitLoan() {
        Await.until("a loan", () -> run().ranOn.equals(Thread.currentThread()));
    }

    /** A client that waits for a request on a thread of its own. */
    private CompletableFuture<PendingRequest.Outcome> client(CompletableFuture<Thread> ranOn) {
        return CompletableFuture.supplyAsync(
                () -> {
                    Job job = new Job();
                    assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
                    PendingRequest.Outcome outcome = job.await(scheduler);
                    ranOn.complete(job.ranOn);
                    return outcome;
                },
                task -> Thread.ofPlatform().start(task));
    }

    @Test
    void shouldRunOnTheCallersThreadOnceRunsHaveShownToBeShort() {
        for (int i = 0; i < RunTimeEstimator.FIRST_TRIAL; i++) {
            assertThat(run().ranOn.getName()).isEqualTo("runner");
        }
        awaitLoan();
    }

    @Test
    void shouldTellWhereItsRunsWere() {
        earnTrust();
        RunCounts before = scheduler.runCounts();
        assertThat(before.onInstanceThreads()).isGreaterThanOrEqualTo(RunTimeEstimator.FIRST_TRIAL);
        run();
        assertThat(scheduler.runCounts())
                .isEqualTo(new RunCounts(before.onRequestThreads() + 1, before.onInstanceThreads()));
    }

    @Test
    void shouldStayOnItsOwnThreadWherePlacementIsPlain() {
        scheduler.close(GRACE);
        scheduler = Scheduler.open(BatchPolicy.single(10), List.of(runner), Tuning.OFF);
        int runs = 2 * RunTimeEstimator.FIRST_TRIAL;
        for (int i = 0; i < runs; i++) {
            assertThat(run().ranOn.getName()).isEqualTo("runner");
        }
        assertThat(scheduler.runCounts()).isEqualTo(new RunCounts(0, runs));
    }

    @Test
    void shouldTellThatARequestIsTakenBeforeItRunsOnItsOwnThread() {
        earnTrust();
        assertThat(run()).matches(job -> job.ranOn.equals(Thread.currentThread()) && job.takenBefore);
    }

    @Test
    void shouldGoBackToItsOwnThreadWhenRunsTakeLong() {
        earnTrust();
        runner.runNanos = 50_000_000;
        assertThat(run().ranOn).isEqualTo(Thread.currentThread());
        assertThat(run().ranOn.getName()).isEqualTo("runner");
    }

    @Test
    void shouldStayOnItsOwnThreadWhereTheRunnerIsBoundToIt() {
        Runner bound = new Runner(true);
        scheduler.close(GRACE);
        scheduler = Scheduler.open(BatchPolicy.single(10), List.of(bound));
        for (int i = 0; i < 2 * RunTimeEstimator.FIRST_TRIAL; i++) {
            assertThat(run().ranOn.getName()).isEqualTo("runner");
        }
    }

    @Test
    void shouldFollowTheRunnersThatComeAndGo() {
        earnTrust();
        Runner bound = new Runner(true);
        assertThat(scheduler.exchange(List.of(bound), List.of())).isTrue();
        for (int i = 0; i < RunTimeEstimator.FIRST_TRIAL; i++) {
            assertThat(run().ranOn.getName()).isEqualTo("runner");
        }
        Runner broken = new Runner(true);
        broken.broken = true;
        assertThatThrownBy(() -> scheduler.exchange(List.of(broken), List.of(bound)))
                .hasMessage("broken");
        assertThat(scheduler.exchange(List.of(), List.of(bound))).isTrue();
        awaitLoan();
    }

    @Test
    void shouldCloseAnInstanceThatIsSentAwayWhileItIsLentOnceItIsGivenBack() throws Exception {
        earnTrust();
        runner.gated = true;
        CompletableFuture<PendingRequest.Outcome> client = client(new CompletableFuture<>());
        assertThat(runner.begun.poll(20, TimeUnit.SECONDS)).isNotNull();
        Runner next = new Runner(false);
        Thread notClosed = runner.closedOn;
        assertThat(scheduler.exchange(List.of(next), List.of(runner))).isTrue();
        run();
        assertThat(runner.closedOn).as("closed while it runs").isEqualTo(notClosed);
        runner.permits.add(true);
        assertThat(client.get(20, TimeUnit.SECONDS)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closedOn.getName()).isEqualTo("runner");
        assertThat(scheduler.exchange(List.of(new Runner(false)), List.of()))
                .as("of what has stopped")
                .isFalse();
    }

    @Test
    void shouldServeWhatCameWhileTheInstanceWasLentOnItsOwnThread() throws Exception {
        earnTrust();
        runner.gated = true;
        CompletableFuture<Thread> firstRanOn = new CompletableFuture<>();
        CompletableFuture<PendingRequest.Outcome> first = client(firstRanOn);
        assertThat(runner.begun.poll(20, TimeUnit.SECONDS)).isNotNull();
        Job second = new Job();
        assertThat(scheduler.submit(second)).isEqualTo(Admission.ACCEPTED);
        assertThat(scheduler.pendingCount()).isEqualTo(1);
        runner.permits.add(true);
        runner.permits.add(true);

        assertThat(second.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(firstRanOn.get().getName()).isNotEqualTo("runner");
        assertThat(second.ranOn.getName()).isEqualTo("runner");
        assertThat(runner.most).hasValue(1);
    }

    @Test
    void shouldWaitWithClosingForTheThreadThatRuns() throws Exception {
        earnTrust();
        runner.gated = true;
        CompletableFuture<PendingRequest.Outcome> client = client(new CompletableFuture<>());
        assertThat(runner.begun.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(scheduler.close(Duration.ZERO)).as("still lent").isFalse();
        assertThat(scheduler.submit(new Job())).isEqualTo(Admission.STOPPING);
        runner.permits.add(true);
        assertThat(client.get(20, TimeUnit.SECONDS)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(scheduler.close(GRACE)).isTrue();
        assertThat(runner.closedOn.getName()).isEqualTo("runner");
    }

    @Test
    void shouldLetRequestsGatherWhereTheyMayShareABatch() throws Exception {
        Runner other = new Runner(false);
        scheduler.close(GRACE);
        scheduler = Scheduler.open(BatchPolicy.upTo(4, 10), List.of(runner, other));
        earnTrust();
        runner.gated = true;
        other.gated = true;
        CompletableFuture<PendingRequest.Outcome> first = client(new CompletableFuture<>());
        awaitBegun(other, 1);
        CompletableFuture<Thread> secondRanOn = new CompletableFuture<>();
        CompletableFuture<PendingRequest.Outcome> second = client(secondRanOn);
        awaitBegun(other, 2);
        runner.permits.add(true);
        other.permits.add(true);
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        assertThat(secondRanOn.get(20, TimeUnit.SECONDS).getName()).isEqualTo("runner");
    }

    /** Waits until {@code count} runs have begun on the two runners. */
    private void awaitBegun(Runner other, int count) {
        Await.until("a run", () -> runner.begun.size() + other.begun.size() >= count);
    }

    @Test
    void shouldTakeAwayTheInterruptOfARunAndKeepTheCallersOwn() {
        earnTrust();
        runner.interrupts = true;
        assertThat(run().ranOn).isEqualTo(Thread.currentThread());
        assertThat(Thread.currentThread().isInterrupted()).as("left by the run").isFalse();
        Thread.currentThread().interrupt();
        assertThat(run().ranOn).isEqualTo(Thread.currentThread());
        assertThat(Thread.interrupted()).as("set by the caller").isTrue();
    }

    /**
     * Models that have always been short take long now: all that may hold carrier threads do, and one carrier serves
     * everybody else.
     */
    @Test
    void shouldLeaveACarrierToOthersWhenRunsOfManyModelsTakeLong() throws Exception {
        RunPlacement one = new RunPlacement(true, new InlineRunLimiter(2));
        Runner second = new Runner(false);
        Scheduler<Job> other = Scheduler.open(
                BatchPolicy.single(10), List.of(second), AdaptiveBatchDelayTest.learning(), one, InstanceThread.IDLE);
        assertThat(scheduler.close(GRACE)).isTrue();
        scheduler = Scheduler.open(
                BatchPolicy.single(10), List.of(runner), AdaptiveBatchDelayTest.learning(), one, InstanceThread.IDLE);
        try {
            earnTrust();
            earnTrust(other);
            runner.gated = true;
            second.gated = true;
            CompletableFuture<Thread> firstRanOn = new CompletableFuture<>();
            Thread.ofVirtual().name("first").start(() -> firstRanOn.complete(ranOn(scheduler)));
            assertThat(runner.begun.poll(20, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Thread> secondRanOn = new CompletableFuture<>();
            Thread.ofVirtual().name("second").start(() -> secondRanOn.complete(ranOn(other)));
            assertThat(second.begun.poll(20, TimeUnit.SECONDS)).isTrue();
            runner.permits.add(true);
            second.permits.add(true);
            assertThat(firstRanOn.get(20, TimeUnit.SECONDS).isVirtual())
                    .as("the first")
                    .isTrue();
            assertThat(secondRanOn.get(20, TimeUnit.SECONDS).isVirtual())
                    .as("the second")
                    .isFalse();
        } finally {
            second.permits.add(true);
            assertThat(other.close(GRACE)).isTrue();
        }
    }

    private static Thread ranOn(Scheduler<Job> scheduler) {
        Job job = new Job();
        assertThat(scheduler.submit(job)).isEqualTo(Admission.ACCEPTED);
        assertThat(job.await(scheduler)).isEqualTo(PendingRequest.Outcome.COMPLETED);
        return job.ranOn;
    }

    private static void earnTrust(Scheduler<Job> scheduler) {
        Await.until("a loan", () -> ranOn(scheduler).equals(Thread.currentThread()));
    }
}
