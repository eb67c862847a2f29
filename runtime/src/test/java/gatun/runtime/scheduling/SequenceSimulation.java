// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Hold;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.PendingRequest.State;
import gatun.runtime.scheduling.SequencePolicy.Strategy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs the sequence scheduler's own decisions on a clock of its own: clients that send the steps of sequences one after
 * the other or all at once, forget how they began, never end them, or give steps up; or whose requests the model wants
 * to run again and again; instances that take their time, wake late, or fail, and in some histories share a resource
 * with others. Everything follows from the seed. Checks after each step what must hold, and at the end that nothing is
 * left.
 */
final class SequenceSimulation {
    /** How late a timer may be. */
    private static final long TICK_NANOS = 10_000;

    /** The longest that an instance takes to wake, and that a run takes. */
    private static final long WAKING_NANOS = 50_000;

    private static final long RUN_NANOS = 200_000;

    /** How long others take from the resource that the instances need. */
    private static final long HORIZON_NANOS = 2_000_000;

    private final Random random;
    private final SequencePolicy policy;
    private final EventLoop loop = new EventLoop();
    private final SequenceDispatcher<Step> dispatcher;
    /** By number, of which one that has ended may pass to another. */
    private final List<Instance> instances;

    private final List<Instance> former = new ArrayList<>();

    /** The turns that instances wait for before they run, in some histories. */
    private final @Nullable SimulatedTurns turns;

    private final List<Step> steps = new ArrayList<>();

    /** The states that sequences keep. */
    private final Set<Memory> kept = new HashSet<>();

    /** The number of the last step of each sequence that has run. */
    private final Map<Sequence, Integer> progress = new HashMap<>();

    /** The place that each sequence had when it ran first. */
    private final Map<Sequence, String> places = new HashMap<>();

    private boolean stopped;
    private boolean exchanging;

    /** The state that a sequence keeps. */
    private final class Memory implements Hold {
        Memory() {
            kept.add(this);
        }

        @Override
        public void close() {
            assertThat(kept.remove(this)).as("given back twice").isTrue();
        }
    }

    /** A request. */
    private static final class Step extends PendingRequest {
        final int number;
        final int shape;
        final boolean asksToStart;

        /** How often the model wants to run it. */
        final int wantedRuns;

        Admission admission = Admission.STOPPING;
        boolean withdrawn;
        boolean failed;
        int runs;

        Step(int number, int id, boolean starts, boolean ends, int wantedRuns, int shape, long deadline) {
            this.wantedRuns = wantedRuns;
            this.number = number;
            this.shape = shape;
            asksToStart = starts;
            makeStep(new SequenceStep(id, starts, ends));
            limitWait(0, deadline, false);
        }

        @Override
        protected boolean joins(PendingRequest first) {
            return shape == ((Step) first).shape;
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
        final List<Step> batch = new ArrayList<>();
        boolean asleep = true;
        boolean ended;

        /** Whether sequences may be given to it: it was let in, and not sent away. */
        boolean serving = true;

        /** Whether it was woken before it fell asleep, so that its next sleep ends at once. */
        boolean woken;

        /** Tells the alarm of the present sleep from those of earlier ones. */
        long sleep;

        Instance(int ordinal) {
            this.ordinal = ordinal;
        }

        void ask() {
            long sleepNanos = dispatcher.take(ordinal, loop.now(), batch);
            follow();
            if (sleepNanos == Dispatcher.END) {
                ended = true;
            } else if (!batch.isEmpty()) {
                begin();
            } else if (woken) {
                woken = false;
                loop.after(1, this::ask);
            } else {
                fallAsleep(sleepNanos);
            }
        }

        private void fallAsleep(long nanos) {
            asleep = true;
            long present = ++sleep;
            if (nanos != Dispatcher.FOREVER) {
                assertThat(nanos).as("a time to sleep").isNotNegative();
                loop.after(nanos + random.nextLong(TICK_NANOS), () -> {
                    if (asleep && sleep == present) {
                        asleep = false;
                        ask();
                    }
                });
            }
        }

        private void begin() {
            checkBatch(this);
            if (turns != null) {
                turns.begin();
            }
            boolean fails = random.nextInt(12) == 0;
            for (Step step : batch) {
                step.runs++;
                Sequence sequence = step.step().sequence();
                if (sequence.state() == null) {
                    sequence.keep(new Memory());
                }
                step.failed |= fails;
                if (!fails && step.runs < step.wantedRuns) {
                    step.step().again();
                } else if (!fails) {
                    step.step().done();
                }
            }
            loop.after(1 + random.nextLong(RUN_NANOS), () -> {
                if (turns != null) {
                    turns.end(ordinal);
                }
                dispatcher.finish(batch, loop.now());
                closeEnded();
                batch.forEach(PendingRequest::complete);
                batch.clear();
                ask();
            });
        }

        void rouse() {
            if (ended) {
                return;
            }
            if (asleep) {
                asleep = false;
                loop.after(random.nextLong(WAKING_NANOS), this::ask);
            } else {
                woken = true;
            }
        }
    }

    private SequenceSimulation(long seed) {
        random = new Random(seed);
        Strategy strategy = random.nextBoolean() ? Strategy.DIRECT : Strategy.OLDEST;
        int maxBatchSize = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(6);
        int slots =
                strategy == Strategy.OLDEST && random.nextBoolean() ? 1 + random.nextInt(8) : Math.max(1, maxBatchSize);
        List<Integer> preferred = strategy == Strategy.DIRECT || maxBatchSize == 0
                ? List.of()
                : IntStream.of(1 + random.nextInt(maxBatchSize), maxBatchSize)
                        .distinct()
                        .sorted()
                        .boxed()
                        .toList();
        long delay = random.nextBoolean() ? 0 : 1 + random.nextLong(200_000);
        double utilization = random.nextInt(3) == 0 ? 0 : random.nextDouble();
        long idle = random.nextBoolean() ? 100_000 + random.nextLong(1_000_000) : 60_000_000_000L;
        int capacity = random.nextInt(4) == 0 ? 1 + random.nextInt(6) : 10_000;
        BatchPolicy batches =
                new BatchPolicy(Math.max(1, maxBatchSize), preferred, delay, false, QueueCapacities.all(capacity));
        policy = new SequencePolicy(strategy, slots, batches, utilization, idle, random.nextInt(4) == 0);
        int instanceCount = 1 + random.nextInt(3);
        turns = random.nextInt(3) == 0
                ? new SimulatedTurns(random, loop, instanceCount, HORIZON_NANOS, this::turnCame)
                : null;
        dispatcher = new SequenceDispatcher<>(policy, instanceCount, turns == null ? RunPermits.UNLIMITED : turns);
        instances = new ArrayList<>(
                IntStream.range(0, instanceCount).mapToObj(Instance::new).toList());
    }

    /** Runs one simulation; fails when something does not hold. */
    static void run(long seed) {
        new SequenceSimulation(seed).run();
    }

    private void run() {
        int clients = 1 + random.nextInt(20);
        int ids = 1 + random.nextInt(clients);
        long spacing = 1 + random.nextLong(100_000);
        for (int i = 0; i < clients; i++) {
            long at = random.nextLong(clients * spacing);
            if (policy.iterative()) {
                int id = i;
                loop.after(at, () -> arrive(id, true, false));
            } else {
                client(1 + random.nextInt(ids), at);
            }
        }
        if (random.nextInt(3) == 0) {
            for (int changes = 1 + random.nextInt(6); changes > 0; changes--) {
                loop.after(random.nextLong(clients * spacing + 1), this::exchange);
            }
        }
        int end = random.nextInt(4);
        if (end == 0) {
            loop.after(random.nextLong(clients * spacing + 1_000_000), this::drain);
        } else if (end == 1) {
            loop.after(random.nextLong(clients * spacing + 1_000_000), this::stop);
        }
        loop.play(this::checkNow);
        if (!stopped) {
            assertThat(instances)
                    .as("instances that sleep at the end")
                    .allMatch(instance -> instance.asleep || instance.ended);
            checkWaiting();
            drain();
            loop.play(this::checkNow);
            stop();
            loop.play(this::checkNow);
        }
        checkEnd();
    }

    /** Sends the steps of one sequence. */
    private void client(int id, long at) {
        int count = 1 + random.nextInt(6);
        boolean starts = random.nextInt(10) > 0;
        boolean ends = random.nextInt(4) > 0;
        boolean restarts = random.nextInt(8) == 0;
        long pace = random.nextBoolean() ? 1 : 1 + random.nextLong(300_000);
        long when = at;
        for (int i = 0; i < count; i++) {
            boolean first = (i == 0 && starts) || (restarts && i == count / 2);
            boolean last = i == count - 1 && ends;
            loop.after(when, () -> arrive(id, first, last));
            when += random.nextLong(pace);
        }
    }

    private void arrive(int id, boolean starts, boolean ends) {
        long deadline = random.nextInt(6) == 0 ? loop.now() + 1 + random.nextLong(300_000) : 0;
        int wantedRuns = policy.iterative() ? 1 + random.nextInt(5) : 1;
        Step step = new Step(steps.size(), id, starts, ends, wantedRuns, random.nextInt(6) == 0 ? 1 : 0, deadline);
        steps.add(step);
        long waiting = waiting();
        step.admission = dispatcher.submit(step, loop.now());
        follow();
        switch (step.admission) {
            case ACCEPTED -> assertThat(waiting).isLessThan(policy.queueCapacity());
            case QUEUE_FULL ->
                // Steps that run again are not refused for that.
                assertThat(waiting).isGreaterThanOrEqualTo(policy.queueCapacity());
            case NO_SEQUENCE ->
                assertThat(starts).as("a start that was refused").isFalse();
            case STOPPING -> assertThat(stopped).isTrue();
        }
        if (step.admission != Admission.ACCEPTED) {
            assertThat(step.state()).as("of a refused step").isEqualTo(State.NEW);
            return;
        }
        if (deadline != 0) {
            loop.after(deadline - loop.now() + random.nextLong(TICK_NANOS), () -> expire(step));
        }
        if (random.nextInt(8) == 0) {
            loop.after(random.nextLong(200_000), () -> {
                withdraw(step);
                follow();
            });
        }
    }

    /** A step that is given up takes all of its sequence along that wait. */
    private void withdraw(Step step) {
        if (step.state() != State.QUEUED) {
            assertThat(dispatcher.withdraw(step, loop.now())).isFalse();
            return;
        }
        Sequence sequence = step.step().sequence();
        List<Step> together = steps.stream()
                .filter(other -> other.state() == State.QUEUED && other.step().sequence() == sequence)
                .toList();
        assertThat(dispatcher.withdraw(step, loop.now())).isTrue();
        together.forEach(other -> other.withdrawn = true);
    }

    private void expire(Step step) {
        boolean waited = step.state() == State.QUEUED && !step.step().sequence().hasSlot();
        dispatcher.expire(step);
        assertThat(!waited || step.state() == State.EXPIRED)
                .as("a step that waited for a slot until its time was over, and is " + step.state())
                .isTrue();
    }

    private void turnCame(int instance) {
        instances.get(instance).rouse();
    }

    /** Does what the scheduler does after each call. */
    private void follow() {
        closeEnded();
        int woken = dispatcher.instanceToWake(loop.now());
        if (woken != Dispatcher.NONE) {
            instances.get(woken).rouse();
        }
    }

    private void closeEnded() {
        dispatcher.takeEnded().forEach(Sequence::close);
    }

    /** Some instances come, and others go once their sequences have ended; where they wait for turns, none come. */
    private void exchange() {
        List<Instance> leaving = instances.stream()
                .filter(instance -> instance.serving && random.nextBoolean())
                .toList();
        long stay = instances.stream().filter(instance -> instance.serving).count() - leaving.size();
        int added = turns == null ? random.nextInt(3) : 0;
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
                opening.forEach(this::fail);
                return;
            }
            opening.forEach(instance -> {
                dispatcher.admit(instance.ordinal, loop.now());
                instance.serving = !stopped;
                instance.rouse();
            });
            leaving.forEach(instance -> {
                dispatcher.retire(instance.ordinal, loop.now());
                instance.serving &= stopped;
                instance.rouse();
            });
            follow();
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

    /** One that could not be opened, whose thread is gone before anything else changes. */
    private void fail(Instance instance) {
        dispatcher.retire(instance.ordinal, loop.now());
        if (instance.asleep) {
            instance.asleep = false;
            instance.ended = true;
        }
    }

    private void drain() {
        stopped = true;
        dispatcher.drain(loop.now());
        closeEnded();
        instances.forEach(Instance::rouse);
    }

    private void stop() {
        stopped = true;
        dispatcher.stop(loop.now());
        closeEnded();
        instances.forEach(Instance::rouse);
    }

    private long waiting() {
        return steps.stream().filter(step -> step.state() == State.QUEUED).count();
    }

    private void checkBatch(Instance instance) {
        List<Step> batch = instance.batch;
        assertThat(batch.size())
                .as("steps of a batch")
                .isLessThanOrEqualTo(policy.batches().maxBatchSize());
        Set<Sequence> sequences = new HashSet<>();
        int lastSlot = -1;
        for (Step step : batch) {
            Sequence sequence = step.step().sequence();
            assertThat(step.runs).as("runs of " + step.number).isLessThan(step.wantedRuns);
            assertThat(step.failed).as(step.number + " runs though it failed").isFalse();
            assertThat(step.state()).isEqualTo(State.RUNNING);
            assertThat(step.joins(batch.getFirst()))
                    .as("shares a batch with another shape")
                    .isTrue();
            assertThat(sequences.add(sequence))
                    .as("two steps of one sequence at once")
                    .isTrue();
            assertThat(sequence.slot()).isBetween(0, policy.slots() - 1);
            if (policy.strategy() == Strategy.DIRECT) {
                assertThat(sequence.slot()).as("the order of the rows").isGreaterThan(lastSlot);
                lastSlot = sequence.slot();
            }
            checkTurn(instance, step, sequence);
        }
        for (Instance other : instances) {
            assertThat(other != instance
                            && other.batch.stream()
                                    .anyMatch(step ->
                                            sequences.contains(step.step().sequence())))
                    .as("a sequence that runs on two instances")
                    .isFalse();
        }
    }

    /**
     * A sequence's steps run in the client's order, in one place, and never go on with what another sequence left
     * there.
     */
    private void checkTurn(Instance instance, Step step, Sequence sequence) {
        Integer before = progress.put(sequence, step.number);
        assertThat(before == null || before < step.number || step.runs > 0)
                .as("the order of a sequence")
                .isTrue();
        assertThat(before != null || step.step().starts())
                .as(step.number + " begins without START")
                .isTrue();
        String place = instance.ordinal + "/" + sequence.slot();
        String known = places.putIfAbsent(sequence, place);
        assertThat(known == null || known.equals(place))
                .as("moved from " + known + " to " + place)
                .isTrue();
        for (Step other : steps) {
            assertThat(other.number < step.number
                            && other.state() == State.QUEUED
                            && other.step().sequence() == sequence)
                    .as(step.number + " ran before " + other.number)
                    .isFalse();
        }
        assertThat(!step.asksToStart || step.step().starts() == (step.runs == 0))
                .as("a START that was lost, or came again")
                .isTrue();
    }

    private void checkNow() {
        assertThat(dispatcher.pendingCount()).as("counted as waiting").isEqualTo((int) waiting());
        long running =
                instances.stream().filter(instance -> !instance.batch.isEmpty()).count();
        assertThat(dispatcher.busyCount()).as("counted as running").isEqualTo((int) running);
        Map<String, Sequence> taken = new HashMap<>();
        for (Step step : steps) {
            if (step.state() == State.QUEUED || step.state() == State.RUNNING) {
                Sequence sequence = step.step().sequence();
                if (sequence.hasSlot()) {
                    Sequence other = taken.put(sequence.instance() + "/" + sequence.slot(), sequence);
                    assertThat(other == null || other == sequence)
                            .as("two sequences in one slot")
                            .isTrue();
                }
            }
        }
        assertThat(kept.size()).as("states").isLessThanOrEqualTo(instances.size() * policy.slots());
        checkNotForgotten(taken);
    }

    /**
     * No step that could run waits longer than the delay while its instance sleeps, and none waits for a slot while one
     * is free.
     */
    private void checkNotForgotten(Map<String, Sequence> taken) {
        for (Step step : steps) {
            if (step.state() != State.QUEUED) {
                continue;
            }
            Sequence sequence = step.step().sequence();
            if (sequence.hasSlot()) {
                boolean forgotten = turns == null
                        && instances.get(sequence.instance()).asleep
                        && loop.now() - step.submittedNanos > policy.batches().maxQueueDelayNanos() + TICK_NANOS;
                assertThat(forgotten)
                        .as(step.number + " waits though its instance sleeps")
                        .isFalse();
            } else {
                assertThat(dispatcher.hasFreeSlot())
                        .as(step.number + " waits for a slot while one is free")
                        .isFalse();
                assertThat(dispatcher.sequenceCount())
                        .as("sequences when one waits")
                        .isGreaterThan((int) instances.stream()
                                        .filter(instance -> instance.serving)
                                        .count()
                                * policy.slots());
            }
        }
        assertThat(taken.size()).isLessThanOrEqualTo(instances.size() * policy.slots());
    }

    /** With all events played, only sequences that nobody ended, and that may still go on, have slots. */
    private void checkWaiting() {
        for (Step step : steps) {
            assertThat(step.state() == State.QUEUED && step.step().sequence().hasSlot())
                    .as(step.number + " waits while all instances sleep")
                    .isFalse();
        }
        assertThat(waiting() == 0 || policy.maxIdleNanos() > 0).isTrue();
    }

    private void checkEnd() {
        assertThat(dispatcher.pendingCount()).as("left waiting").isZero();
        assertThat(dispatcher.sequenceCount()).as("left sequences").isZero();
        if (turns != null) {
            turns.checkNothingIsLeft();
        }
        assertThat(kept).as("states that were not given back").isEmpty();
        assertThat(instances).as("left running").allMatch(instance -> instance.ended);
        assertThat(former).as("left running").allMatch(instance -> instance.ended);
        for (Step step : steps) {
            if (step.admission == Admission.ACCEPTED) {
                assertThat(step.isOver())
                        .as(step.number + " never ended: " + step.state())
                        .isTrue();
                assertThat(step.state() == State.COMPLETED)
                        .as(step.number + " ended " + step.state() + " after " + step.runs + " runs")
                        .isEqualTo(step.failed || step.runs == step.wantedRuns);
                assertThat(step.state() == State.WITHDRAWN).isEqualTo(step.withdrawn);
            }
        }
    }
}
