// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.PendingRequest.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The decisions for steps of sequences by a {@link SequencePolicy}: open sequences, their instances, and the next
 * steps.
 *
 * <p>A sequence keeps its instance and slot from its first step to its last, one step running at a time. It ends with
 * its last step, or after too long idle, and the sequence that waited longest gets the slot. A step that begins it anew
 * continues in the slot; when the model does not take such a step, the next one begins the sequence, so that what an
 * earlier one left there is never continued. Steps of iterative sequences may run again, behind those that wait then;
 * the sequence ends with its last.
 *
 * <p>A step given up ends its sequence with all steps that wait, as those behind lack its state; a running one
 * finishes. An instance whose {@linkplain RunPermits turn} has not come takes nothing, and gives it up when no step
 * waits.
 */
final class SequenceDispatcher<T extends PendingRequest> implements Dispatcher<T> {
    private final SequencePolicy policy;
    private final RunPermits turns;
    private final SequenceSlots slots;
    private final StepCandidates<T> candidates;
    private final SleepingInstances sleep;

    /** Those to which more steps may come, by id. */
    private final Map<Object, Sequence> open = new HashMap<>();

    private final List<Sequence> ended = new ArrayList<>();
    private volatile int pending;

    /** Whether no more requests are taken. */
    private boolean stopping;

    /** Whether requests that wait are refused. */
    private boolean refusing;

    SequenceDispatcher(SequencePolicy policy, int instanceCount, RunPermits turns) {
        this.policy = policy;
        this.turns = turns;
        slots = new SequenceSlots(instanceCount, policy.slots());
        candidates = new StepCandidates<>(policy);
        sleep = new SleepingInstances(policy, slots, candidates);
    }

    @Override
    public int pendingCount() {
        return pending;
    }

    @Override
    public int busyCount() {
        int busy = 0;
        for (InstanceSequences instance : slots.instances()) {
            busy += instance.runs ? 1 : 0;
        }
        return busy;
    }

    /** How many sequences have a slot or wait for one. */
    int sequenceCount() {
        return slots.sequenceCount();
    }

    /** Whether a sequence that begins now need not wait. */
    boolean hasFreeSlot() {
        return slots.isAnyFree();
    }

    @Override
    public Admission submit(T request, long now) {
        if (stopping) {
            return Admission.STOPPING;
        }
        SequenceStep step = request.step();
        Sequence sequence = open.get(step.id());
        if (sequence != null && sequence.isIdle() && policy.isIdleForTooLong(sequence.idleSince, now)) {
            slots.instanceOf(sequence).idle().remove(sequence);
            end(sequence, now);
            sequence = null;
        }
        if (sequence == null && !step.starts()) {
            return Admission.NO_SEQUENCE;
        }
        if (pending >= policy.queueCapacity()) {
            return Admission.QUEUE_FULL;
        }
        request.submittedNanos = now;
        request.become(State.QUEUED);
        count(1);
        if (sequence == null) {
            begin(request, now);
        } else {
            proceed(sequence, request, now);
        }
        return Admission.ACCEPTED;
    }

    private void begin(T request, long now) {
        SequenceStep step = request.step();
        Sequence sequence = new Sequence(step.id());
        sequence.append(request);
        if (!sequence.closed) {
            open.put(step.id(), sequence);
        }
        if (slots.assign(sequence)) {
            ready(sequence, now);
        }
    }

    private void proceed(Sequence sequence, T request, long now) {
        boolean idle = sequence.isIdle();
        sequence.append(request);
        if (sequence.closed) {
            open.remove(sequence.id());
        }
        if (idle) {
            slots.instanceOf(sequence).idle().remove(sequence);
            ready(sequence, now);
        }
    }

    private void ready(Sequence sequence, long now) {
        slots.instanceOf(sequence).ready().add(sequence);
        sleep.consider(sequence.instance(), stopping, now);
    }

    /** Ends a sequence that has a slot, and is neither among the ready ones nor the idle ones any more. */
    private void end(Sequence sequence, long now) {
        open.remove(sequence.id(), sequence);
        ended.add(sequence);
        InstanceSequences instance = slots.instanceOf(sequence);
        slots.release(sequence);
        placeNext(now);
        if (!instance.admitted && instance.isEmpty()) {
            sleep.wake(sequence.instance());
        }
    }

    /** Gives slots that are free to those that have waited for longest. */
    private void placeNext(long now) {
        for (Optional<Sequence> next = slots.assignNext(); next.isPresent(); next = slots.assignNext()) {
            ready(next.get(), now);
        }
    }

    @Override
    public int reserve() {
        return stopping ? NONE : slots.reserve();
    }

    @Override
    public void admit(int number, long now) {
        if (!stopping) {
            slots.open(number);
            placeNext(now);
        }
    }

    /** {@inheritDoc} Only this instance can run its sequences, so it ends when their clients end or leave them. */
    @Override
    public void retire(int number, long now) {
        // Once the scheduler stops it ends either way.
        if (!stopping) {
            slots.retire(number);
        }
    }

    @Override
    public List<Sequence> takeEnded() {
        if (ended.isEmpty()) {
            return List.of();
        }
        List<Sequence> taken = List.copyOf(ended);
        ended.clear();
        return taken;
    }

    @Override
    public int instanceToWake(long now) {
        return sleep.next();
    }

    /** {@inheritDoc} They are in the order of their slots where the strategy keeps them in place. */
    @Override
    public long take(int number, long now, List<T> batch) {
        InstanceSequences instance = slots.instance(number);
        sleep.arrive(number);
        instance.runs = false;
        endIdle(instance, now);
        if (!candidates.form(instance, stopping, now)) {
            instance.stalled = false;
            turns.decline(number);
        } else if (!turns.ask(number)) {
            instance.stalled = true;
        } else {
            instance.stalled = false;
            instance.runs = true;
            candidates.moveTo(batch);
            for (T request : batch) {
                Sequence sequence = request.step().sequence();
                instance.ready().remove(sequence);
                sequence.run(request);
                request.become(State.RUNNING);
            }
            count(-batch.size());
            return 0;
        }
        candidates.forget();
        if ((stopping || instance.leaving) && instance.isEmpty()) {
            instance.ended = true;
            return END;
        }
        return sleep.rest(number, now);
    }

    /** Has an instance wait for its turn no more when there is nothing to run: others behind it may need the same. */
    private void dismiss(int number) {
        InstanceSequences instance = slots.instance(number);
        if (instance.stalled) {
            instance.stalled = false;
            turns.decline(number);
        }
    }

    @Override
    public boolean followsRuns() {
        return true;
    }

    @Override
    public void finish(List<T> batch, long now) {
        for (int i = 0; i < batch.size(); i++) {
            T request = batch.get(i);
            SequenceStep step = request.step();
            Sequence sequence = step.sequence();
            sequence.running = false;
            if (step.starts() && !step.isDone()) {
                sequence.passStartOn(sequence.waiting.first());
            }
            if (step.isAgain()) {
                runAgain(request, sequence, now);
            }
            if (sequence.waiting.size() > 0) {
                ready(sequence, now);
            } else {
                rest(sequence, now);
            }
        }
        batch.removeIf(request -> request.state() != State.RUNNING);
    }

    private void runAgain(T request, Sequence sequence, long now) {
        if (refusing) {
            request.refuse();
            return;
        }
        request.step().goOn();
        request.submittedNanos = now;
        request.become(State.QUEUED);
        sequence.waiting.add(request);
        count(1);
    }

    /** Nothing of the sequence, which has a slot, waits or runs any more: it ends, or may have more to do later. */
    private void rest(Sequence sequence, long now) {
        if (sequence.closed || policy.iterative() || stopping) {
            end(sequence, now);
            return;
        }
        sequence.idleSince = now;
        slots.instanceOf(sequence).idle().add(sequence);
        sleep.consider(sequence.instance(), stopping, now);
    }

    private void endIdle(InstanceSequences instance, long now) {
        for (Sequence next = instance.idle().first();
                next != null && (stopping || policy.isIdleForTooLong(next.idleSince, now));
                next = instance.idle().first()) {
            instance.idle().remove(next);
            end(next, now);
        }
    }

    /** {@inheritDoc} The other steps of its sequence that wait are taken out too, and the sequence takes no more. */
    @Override
    public boolean withdraw(PendingRequest request, long now) {
        if (request.state() != State.QUEUED) {
            return false;
        }
        Sequence sequence = request.step().sequence();
        endWaiting(sequence, PendingRequest::withdraw);
        if (!sequence.hasSlot()) {
            forget(sequence);
            return true;
        }
        sequence.closed = true;
        open.remove(sequence.id(), sequence);
        if (!sequence.running) {
            slots.instanceOf(sequence).ready().remove(sequence);
            // Once the scheduler stops an instance ends by itself, when its turn has come.
            if (slots.instanceOf(sequence).ready().isEmpty() && !stopping) {
                dismiss(sequence.instance());
            }
            rest(sequence, now);
        }
        return true;
    }

    /** Ends a request that timed out while its sequence waits for a slot, with the sequence; no other. */
    @Override
    public void expire(PendingRequest request) {
        if (request.state() != State.QUEUED || request.step().sequence().hasSlot()) {
            return;
        }
        Sequence sequence = request.step().sequence();
        endWaiting(sequence, PendingRequest::expire);
        forget(sequence);
    }

    /** Ends a sequence that waits for a slot and has no steps any more. */
    private void forget(Sequence sequence) {
        slots.leave(sequence);
        open.remove(sequence.id(), sequence);
    }

    @Override
    public void drain(long now) {
        stopping = true;
        for (InstanceSequences instance : slots.instances()) {
            endIdle(instance, now);
        }
    }

    @Override
    public void stop(long now) {
        stopping = true;
        refusing = true;
        slots.takeBacklog().forEach(sequence -> endWaiting(sequence, PendingRequest::refuse));
        open.clear();
        for (InstanceSequences instance : slots.instances()) {
            endIdle(instance, now);
            for (int slot = 0; slot < instance.slotCount(); slot++) {
                Sequence sequence = instance.at(slot);
                if (sequence != null) {
                    endWaiting(sequence, PendingRequest::refuse);
                    if (instance.ready().remove(sequence)) {
                        rest(sequence, now);
                    }
                }
            }
        }
    }

    private void endWaiting(Sequence sequence, Consumer<PendingRequest> end) {
        for (PendingRequest request = sequence.waiting.first(); request != null; request = sequence.waiting.first()) {
            sequence.waiting.remove(request);
            count(-1);
            end.accept(request);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void count(int by) {
        pending += by;
    }
}
