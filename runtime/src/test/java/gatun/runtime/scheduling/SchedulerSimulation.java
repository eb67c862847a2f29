// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.execution.SimulatedModel;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.PendingRequest.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scheduler's own code on a clock of its own: clients that come at random, instances that take their time,
 * wake late or fail, and clients that give up. In half of the histories the instances are real ones, whose runs move
 * tensors and fail now and then; in some they share a resource with others. Everything follows from the seed. Checks
 * after each step what must hold, and at the end that nothing is left.
 */
final class SchedulerSimulation {
    /** The most that a request waits beyond its deadline, and an instance's alarm beyond its time: one tick. */
    private static final long TICK_NANOS = 10_000;

    /** Longer than a run, a delay and a waking together. */
    private static final long IDLE_LIMIT_NANOS = RunPlacement.WATCH_NANOS + 1_000_000;

    /** How long others take from the resource that the instances need. */
    private static final long HORIZON_NANOS = 1_500_000;

    /** Elements of a row, by shape. */
    private static final int[] COLUMNS = {3, 5};

    private final Random random;
    private final BatchPolicy policy;
    private final int levels;
    private final boolean[] timesOut;
    private final boolean lends;

    /** The model that instances run in half of all histories; in the others they only take their time. */
    private final @Nullable SimulatedModel model;

    private final EventLoop loop = new EventLoop();
    private final BatchDispatcher<Job> dispatcher;
    private final List<Job> jobs = new ArrayList<>();
    /** By number, of which one that has ended may pass to another. */
    private final List<Instance> instances;

    private final List<Instance> former = new ArrayList<>();

    /** The turns that instances wait for before they run, in some histories. */
    private final @Nullable SimulatedTurns turns;

    private boolean stopped;
    private boolean exchanging;

    /** A request. */
    private static final class Job extends PendingRequest {
        final int number;
        final int size;
        final int shape;
        final long deadline;
        final boolean delays;
        final SimulatedModel.@Nullable Work work;
        boolean accepted;
        boolean withdrawn;
        long startedAt = -1;
        long endedAt = -1;

        Job(
                int number,
                int size,
                int shape,
                int level,
                long deadline,
                boolean delays,
                SimulatedModel.@Nullable Work work) {
            this.number = number;
            this.size = size;
            this.shape = shape;
            this.deadline = deadline;
            this.delays = delays;
            this.work = work;
            limitWait(level, deadline, delays);
        }

        @Override
        protected int size() {
            return size;
        }

        @Override
        protected boolean joins(PendingRequest first) {
            return shape == ((Job) first).shape;
        }

        boolean isOver() {
            return switch (state()) {
                case COMPLETED, WITHDRAWN, EXPIRED, REFUSED -> true;
                case NEW, QUEUED, RUNNING -> false;
            };
        }
    }

    /** An instance's thread. */
    private final class Instance {
        final int ordinal;
        final List<Job> batch = new ArrayList<>();
        boolean asleep = true;
        boolean waking;
        boolean ended;
        /** Whether it may be given work: it was let in, and not sent away. */
        boolean serving = true;
        /** Whether the thread of a client runs its request by this. */
        boolean lent;
        /** Tells the alarm of the present sleep from those of earlier ones. */
        long sleep;

        Instance(int ordinal) {
            this.ordinal = ordinal;
        }

        boolean isIdle() {
            return asleep && !lent;
        }

        /** As the thread does when it is awake. */
        void ask() {
            waking = false;
            long sleepNanos = dispatcher.take(ordinal, loop.now(), batch);
            if (sleepNanos == Dispatcher.END) {
                ended = true;
            } else if (batch.isEmpty()) {
                fallAsleep(sleepNanos);
                SchedulerSimulation.this.wake(dispatcher.instanceToWake(loop.now()));
            } else {
                begin();
            }
        }

        private void fallAsleep(long nanos) {
            asleep = true;
            long present = ++sleep;
            if (nanos != Dispatcher.FOREVER) {
                loop.after(Math.max(0, nanos), () -> {
                    if (asleep && sleep == present) {
                        asleep = false;
                        ask();
                    }
                });
            }
        }

        private void begin() {
            assertThat(serving || stopped)
                    .as("given work though not in service")
                    .isTrue();
            assertThat(lent).as("runs two batches at a time").isFalse();
            checkBatch(batch);
            for (Job job : batch) {
                job.startedAt = loop.now();
            }
            if (turns != null) {
                turns.begin();
            }
            execute(ordinal, batch);
            wake(dispatcher.instanceToWake(loop.now()));
            long runNanos = runNanos();
            loop.after(runNanos, () -> {
                if (turns != null) {
                    turns.end(ordinal);
                }
                int waiting = dispatcher.pendingCount();
                if (dispatcher.followsRuns()) {
                    dispatcher.finish(batch, loop.now());
                }
                batch.forEach(PendingRequest::complete);
                dispatcher.recordRun(ordinal, runNanos, waiting, loop.now());
                batch.clear();
                ask();
            });
        }

        /** Runs a request as the thread of its client does. */
        void runFor(Job job) {
            assertThat(serving).as("lent though not in service").isTrue();
            assertThat(asleep).as("lent while awake").isTrue();
            assertThat(lent).as("lent twice").isFalse();
            assertThat(policy.maxBatchSize() > 0
                            && instances.stream().anyMatch(other -> other.serving && (other.lent || !other.asleep)))
                    .as("lent though its request might share a batch")
                    .isFalse();
            assertThat(policy.preserveOrdering() || policy.maxQueueDelayNanos() > 0)
                    .as("lent though its request may have to wait for others")
                    .isFalse();
            assertThat(job.state()).isEqualTo(State.RUNNING);
            lent = true;
            job.startedAt = loop.now();
            execute(ordinal, List.of(job));
            long runNanos = runNanos();
            loop.after(runNanos, () -> {
                int waiting = dispatcher.pendingCount();
                job.become(State.COMPLETED);
                lent = false;
                dispatcher.recordRun(ordinal, runNanos, waiting, loop.now());
                wake(dispatcher.giveBack(ordinal, loop.now()));
            });
        }

        /** As it is let in, once it is open. */
        void enter() {
            dispatcher.admit(ordinal, loop.now());
            serving = !stopped;
            if (stopped) {
                rouse();
            }
        }

        /** As it, or another that opens with it, cannot be opened; its thread is gone before anything else changes. */
        void fail() {
            dispatcher.retire(ordinal, loop.now());
            if (asleep && random.nextBoolean()) {
                asleep = false;
                ask();
            } else if (asleep) {
                ended = true; // its thread never came to ask
                asleep = false;
            }
        }

        /** As it is sent away. */
        void leave() {
            serving &= stopped; // Once all are to end it makes no difference.
            dispatcher.retire(ordinal, loop.now());
            rouse();
        }

        /** As the thread is woken: some time later it is awake. */
        void rouse() {
            if (asleep && !ended) {
                asleep = false;
                waking = true;
                loop.after(random.nextLong(50_000), this::ask);
            }
        }
    }

    private SchedulerSimulation(long seed) {
        random = new Random(seed);
        levels = 1 + random.nextInt(3);
        int maxBatchSize = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(12);
        List<Integer> preferred = maxBatchSize == 0
                ? List.of()
                : IntStream.range(0, 1 + random.nextInt(3))
                        .map(i -> 1 + random.nextInt(maxBatchSize))
                        .distinct()
                        .sorted()
                        .boxed()
                        .toList();
        boolean ordered = levels == 1 && random.nextBoolean();
        long delayNanos = random.nextBoolean() ? 0 : 1 + random.nextLong(200_000);
        Map<Long, Integer> capacities =
                LongStream.range(1, levels).boxed().collect(Collectors.toMap(i -> i, i -> 1 + random.nextInt(40)));
        policy = new BatchPolicy(
                maxBatchSize,
                preferred,
                maxBatchSize == 0 ? 0 : delayNanos,
                ordered,
                new QueueCapacities(1 + random.nextInt(40), capacities));
        timesOut = new boolean[] {random.nextBoolean(), !ordered && random.nextBoolean()};
        int instanceCount = 1 + random.nextInt(4);
        turns = random.nextInt(3) == 0
                ? new SimulatedTurns(random, loop, instanceCount, HORIZON_NANOS, this::turnCame)
                : null;
        lends = turns == null && random.nextBoolean();
        AdaptiveBatchDelay gathering = new AdaptiveBatchDelay(policy, AdaptiveBatchDelayTest.learning());
        if (random.nextBoolean()) {
            AdaptiveBatchDelayTest.teach(gathering);
        }
        dispatcher = new BatchDispatcher<>(
                policy,
                instanceCount,
                turns == null ? RunPermits.UNLIMITED : turns,
                RunPlacement.of(random.nextInt(4) > 0),
                gathering);
        instances = new ArrayList<>(
                IntStream.range(0, instanceCount).mapToObj(Instance::new).toList());
        model = random.nextBoolean() ? new SimulatedModel(random, maxBatchSize, instanceCount) : null;
    }

    /** Runs one simulation; fails when something does not hold. */
    static void run(long seed) {
        new SchedulerSimulation(seed).run();
    }

    private void run() {
        int clients = 1 + random.nextInt(120);
        long spacing = 1 + random.nextLong(20_000);
        long at = 1;
        for (int i = 0; i < clients; i++) {
            at += random.nextInt(4) == 0 ? 0 : random.nextLong(2 * spacing);
            int number = i;
            loop.after(at, () -> arrive(number));
        }
        if (random.nextInt(3) == 0) {
            for (int changes = 1 + random.nextInt(6); changes > 0; changes--) {
                loop.after(random.nextLong(at + 1), this::exchange);
            }
        }
        boolean stopsEarly = random.nextInt(8) == 0;
        if (stopsEarly) {
            loop.after(random.nextLong(at + 1), this::stop);
        }
        loop.play(this::checkNow);
        assertThat(jobs).as("every client came").hasSize(clients);
        if (!stopsEarly) {
            assertThat(jobs).as("left waiting while all instances sleep").noneMatch(job -> job.state() == State.QUEUED);
            assertThat(instances)
                    .as("instances that sleep at the end")
                    .allMatch(instance -> instance.asleep || instance.ended);
            stop();
            loop.play(this::checkNow);
        } else if (jobs.stream().anyMatch(job -> job.state() == State.QUEUED)) {
            throw new AssertionError("left waiting when all instances have ended");
        }
        checkEnd();
    }

    private void arrive(int number) {
        int size = policy.maxBatchSize() == 0 ? 1 : 1 + random.nextInt(policy.maxBatchSize());
        if (random.nextInt(3) > 0) {
            size = 1;
        }
        boolean times = timesOut[0] && random.nextBoolean();
        long deadline = times ? loop.now() + 1 + random.nextLong(300_000) : 0;
        int shape = random.nextInt(8) == 0 ? 1 : 0;
        Job job = new Job(
                number,
                size,
                shape,
                random.nextInt(levels),
                deadline,
                timesOut[1],
                model == null ? null : model.arrive(size, COLUMNS[shape]));
        jobs.add(job);
        int lent = lends && dispatcher.mayLend(job) ? dispatcher.lend(job) : Dispatcher.NONE;
        if (lent != Dispatcher.NONE) {
            job.accepted = true;
            instances.get(lent).runFor(job);
            return;
        }
        Admission admission = dispatcher.submit(job, loop.now());
        job.accepted = admission == Admission.ACCEPTED;
        checkCapacity(job, admission);
        wake(dispatcher.instanceToWake(loop.now()));
        if (!job.accepted) {
            leave(job, false);
            return;
        }
        if (deadline != 0) {
            loop.after(deadline - loop.now() + random.nextLong(TICK_NANOS), () -> {
                dispatcher.expire(job);
                wake(dispatcher.instanceToWake(loop.now()));
            });
        }
        if (random.nextInt(10) == 0) {
            loop.after(random.nextLong(100_000), () -> {
                job.withdrawn = dispatcher.withdraw(job, loop.now());
                wake(dispatcher.instanceToWake(loop.now()));
            });
        }
    }

    private void execute(int instance, List<Job> batch) {
        if (model != null) {
            model.run(instance, batch.stream().map(job -> job.work).toList());
        }
    }

    private void leave(Job job, boolean ran) {
        if (model != null && job.work != null) {
            model.end(job.work, ran);
        }
    }

    private long runNanos() {
        return random.nextInt(10) == 0 ? random.nextLong(1_000_000) : 1 + random.nextLong(30_000);
    }

    private void turnCame(int instance) {
        instances.get(instance).rouse();
    }

    private void wake(int instance) {
        if (instance != Dispatcher.NONE) {
            // Those that are to end were all woken before, and one whose turn came may have given it up since.
            assertThat(stopped || turns != null || !instances.get(instance).serving || instances.get(instance).asleep)
                    .as("woken while awake")
                    .isTrue();
            instances.get(instance).rouse();
        }
    }

    /** Some instances come, and others go; where they are real ones, or wait for turns, none come. */
    private void exchange() {
        List<Instance> leaving = instances.stream()
                .filter(instance -> instance.serving && random.nextBoolean())
                .toList();
        long stay = instances.stream().filter(instance -> instance.serving).count() - leaving.size();
        int added = model == null && turns == null ? random.nextInt(3) : 0;
        if (stopped) {
            assertThat(dispatcher.reserve()).as("an instance of what stops").isEqualTo(Dispatcher.NONE);
            return;
        }
        if (exchanging || stay + added == 0) {
            return;
        }
        exchanging = true;
        List<Instance> opening =
                IntStream.range(0, added).mapToObj(i -> reserve()).toList();
        loop.after(random.nextLong(100_000), () -> {
            exchanging = false;
            if (random.nextInt(4) == 0) {
                opening.forEach(Instance::fail);
                return;
            }
            opening.forEach(Instance::enter);
            leaving.forEach(Instance::leave);
            wake(dispatcher.instanceToWake(loop.now()));
        });
    }

    private Instance reserve() {
        Instance instance = new Instance(dispatcher.reserve());
        instance.serving = false;
        if (instance.ordinal == instances.size()) {
            instances.add(instance);
        } else {
            Instance before = instances.set(instance.ordinal, instance);
            assertThat(before.ended).as("its number was free").isTrue();
            former.add(before);
        }
        return instance;
    }

    private void stop() {
        stopped = true;
        if (random.nextBoolean()) {
            dispatcher.drain(loop.now());
        } else {
            dispatcher.stop(loop.now());
        }
        instances.forEach(Instance::rouse);
    }

    private void checkBatch(List<Job> batch) {
        Job first = batch.getFirst();
        int total = 0;
        for (Job job : batch) {
            assertThat(job.accepted).as("ran though refused").isTrue();
            assertThat(job.startedAt).as("ran twice").isNegative();
            assertThat(job.state()).isEqualTo(State.RUNNING);
            assertThat(job.joins(first)).as("shares a batch with another shape").isTrue();
            assertThat(job.deadline == 0 || job.delays || loop.now() < job.deadline)
                    .as("ran after its deadline")
                    .isTrue();
            total += job.size;
        }
        assertThat(batch.size() == 1 || total <= policy.maxBatchSize())
                .as("batch of " + total)
                .isTrue();
        checkTurn(batch);
    }

    /** Nobody of the same level who came before and waits still was passed over, unless put back. */
    private void checkTurn(List<Job> batch) {
        for (Job waiting : jobs) {
            if (waiting.state() == State.QUEUED && !waiting.delayed) {
                for (Job job : batch) {
                    assertThat(job.level() < waiting.level()
                                    || (job.level() == waiting.level() && !job.delayed && job.number < waiting.number))
                            .as(job.number + " ran before " + waiting.number)
                            .isTrue();
                }
            }
        }
    }

    private void checkNow() {
        int waiting = 0;
        boolean held = false;
        for (Job job : jobs) {
            if (job.isOver() && job.endedAt < 0) {
                job.endedAt = loop.now();
                leave(job, job.state() == State.COMPLETED);
            }
            if (job.state() == State.QUEUED) {
                waiting++;
                assertThat(job.deadline == 0 || job.delays || loop.now() <= job.deadline + TICK_NANOS)
                        .as(job.number + " waits after its deadline")
                        .isTrue();
            }
            if (policy.preserveOrdering() && job.accepted) {
                assertThat(held && job.state() == State.COMPLETED)
                        .as(job.number + " was answered before an earlier one")
                        .isFalse();
                held |= !job.isOver();
            }
        }
        assertThat(dispatcher.pendingCount()).as("counted as waiting").isEqualTo(waiting);
        if (!stopped) {
            long running = instances.stream()
                    .filter(instance -> instance.serving && (instance.lent || !instance.batch.isEmpty()))
                    .count();
            assertThat(dispatcher.busyCount()).as("counted as running").isEqualTo((int) running);
        }
        checkNotForgotten();
    }

    private long delayNanos() {
        return policy.maxQueueDelayNanos() == 0 && policy.maxBatchSize() > 1
                ? AdaptiveBatchDelay.LONGEST_NANOS
                : policy.maxQueueDelayNanos();
    }

    /**
     * No request waits longer than the delay and the watch while some instance sleeps, nor than the delay while all do,
     * where others are expected that could share its batch, longer than for these; unless they wait for their turns.
     */
    private void checkNotForgotten() {
        if (turns != null) {
            return;
        }
        long limit = Long.MAX_VALUE;
        List<Instance> present =
                instances.stream().filter(instance -> instance.serving).toList();
        if (present.stream().allMatch(Instance::isIdle)) {
            limit = delayNanos() + TICK_NANOS;
        } else if (present.stream().anyMatch(Instance::isIdle)) {
            limit = delayNanos() + IDLE_LIMIT_NANOS;
        }
        for (Job job : jobs) {
            assertThat(job.state() == State.QUEUED && loop.now() - job.submittedNanos > limit)
                    .as(job.number + " waits though an instance sleeps")
                    .isFalse();
        }
    }

    /**
     * No more requests wait than may, beside those for which an instance is on its way, and none is refused while fewer
     * wait. An instance on its way may take other requests, and then keeps its promise with the next.
     */
    private void checkCapacity(Job job, Admission admission) {
        long waiting = jobs.stream()
                .filter(other -> other.state() == State.QUEUED && other.level() == job.level())
                .count();
        int capacity = policy.capacities().of(job.level());
        long onTheirWay = instances.stream().anyMatch(instance -> instance.waking) ? instances.size() : 0;
        if (admission == Admission.ACCEPTED) {
            assertThat(waiting)
                    .as("waiting in one level")
                    .isLessThanOrEqualTo(capacity + onTheirWay * Math.max(1, policy.maxBatchSize()));
        } else if (admission == Admission.QUEUE_FULL) {
            assertThat(waiting).as("waiting when one was refused").isGreaterThanOrEqualTo(capacity);
        }
    }

    private void checkEnd() {
        assertThat(dispatcher.pendingCount()).as("left waiting").isZero();
        assertThat(instances).as("left running").allMatch(instance -> instance.ended);
        assertThat(former).as("left running").allMatch(instance -> instance.ended);
        for (Job job : jobs) {
            if (job.accepted) {
                assertThat(job.isOver())
                        .as(job.number + " never ended: " + job.state())
                        .isTrue();
                assertThat(job.state() == State.COMPLETED)
                        .as(job.number + " ended " + job.state() + ", started at " + job.startedAt)
                        .isEqualTo(job.startedAt >= 0);
                assertThat(job.state() == State.WITHDRAWN).isEqualTo(job.withdrawn);
            } else {
                assertThat(job.state())
                        .as("refused, so that it is still its maker's")
                        .isEqualTo(State.NEW);
            }
        }
        if (turns != null) {
            turns.checkNothingIsLeft();
        }
        if (model != null) {
            model.checkNothingIsLeft();
        }
    }
}
