package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Ticket.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a sequence scheduler knows and decides, without threads, locks or a clock: which sequences are open, which instance has each of
 * them, which wait for a slot, and what runs next. Instances are numbers from 0; times are readings of {@link System#nanoTime}, or of any
 * other clock that all calls agree on. All instances are asleep at first.
 *
 * <p>A sequence stays with its instance and its slot from its first step to its last; one of its steps runs at a time. It ends with the
 * step that says so, or when it has had nothing to do for too long; then the sequence that has waited for longest gets the slot. A step
 * that begins a sequence anew continues in the slot of the old one. When the step that begins a sequence is given up, or the model does not
 * take it, the next one begins the sequence: what an earlier sequence left in the slot is never continued.
 *
 * <p>An instance whose {@linkplain Turns turn} has not come takes nothing; when none of its steps waits any more it gives its turn up.
 *
 * <p>After each call {@link #instanceToWake} is to be asked until it names none, and {@link #takeEnded} once.
 *
 * @param <T> what is to be run
 */
final class SequenceDispatcher<T extends Ticket> {
    private static final Comparator<Ticket> BY_SLOT =
            Comparator.comparingInt(ticket -> ticket.step().sequence().slot());

    private final SequencePolicy policy;
    private final BatchPolicy batches;
    private final Turns turns;
    private final InstanceSequences[] instances;

    /** Those to which more steps may come, by id. */
    private final Map<Object, Sequence> open = new HashMap<>();

    /** Those that wait for a slot; each has steps that wait. */
    private final Set<Sequence> backlog = new LinkedHashSet<>();

    /** The free slots: the first of all instances, then the second of all, and so on. */
    private final BitSet freeSlots = new BitSet();

    private final BitSet toWake = new BitSet();
    private final List<Sequence> ended = new ArrayList<>();
    private volatile int pending;
    private boolean stopping;

    // What the last attempt to form a batch found.
    private final List<T> candidates = new ArrayList<>();
    private final int[] sizes;
    private long waitNanos;

    SequenceDispatcher(SequencePolicy policy, int instanceCount, Turns turns) {
        this.policy = policy;
        this.turns = turns;
        batches = policy.batches();
        instances = new InstanceSequences[instanceCount];
        for (int i = 0; i < instanceCount; i++) {
            instances[i] = new InstanceSequences(policy.slots());
        }
        freeSlots.set(0, instanceCount * policy.slots());
        sizes = new int[batches.maxBatchSize()];
        Arrays.fill(sizes, 1);
    }

    /** How many tickets wait. May be called by anybody. */
    int pendingCount() {
        return pending;
    }

    /** How many sequences have a slot or wait for one. */
    int sequenceCount() {
        return instances.length * policy.slots() - freeSlots.cardinality() + backlog.size();
    }

    /** Takes a ticket, which belongs to a sequence, in; or refuses it. */
    Admission submit(T ticket, long now) {
        if (stopping) {
            return Admission.STOPPING;
        }
        SequenceStep step = ticket.step();
        Sequence sequence = open.get(step.id());
        if (sequence != null && sequence.isIdle() && hasIdledTooLong(sequence, now)) {
            instance(sequence).idle().remove(sequence);
            end(sequence, now);
            sequence = null;
        }
        if (sequence == null && !step.starts()) {
            return Admission.NO_SEQUENCE;
        }
        if (pending >= policy.queueCapacity()) {
            return Admission.QUEUE_FULL;
        }
        ticket.submittedNanos = now;
        ticket.become(State.QUEUED);
        count(1);
        if (sequence == null) {
            begin(ticket, now);
        } else {
            proceed(sequence, ticket, now);
        }
        return Admission.ACCEPTED;
    }

    private void begin(T ticket, long now) {
        SequenceStep step = ticket.step();
        Sequence sequence = new Sequence(step.id());
        append(sequence, ticket);
        if (!sequence.closed) {
            open.put(step.id(), sequence);
        }
        if (freeSlots.isEmpty()) {
            backlog.add(sequence);
        } else {
            place(sequence, now);
        }
    }

    private void proceed(Sequence sequence, T ticket, long now) {
        boolean idle = sequence.isIdle();
        append(sequence, ticket);
        if (sequence.closed) {
            open.remove(sequence.id());
        }
        if (idle) {
            instance(sequence).idle().remove(sequence);
            ready(sequence, now);
        }
    }

    private static void append(Sequence sequence, Ticket ticket) {
        SequenceStep step = ticket.step();
        step.join(sequence);
        if (sequence.startDue) {
            step.start();
            sequence.startDue = false;
        }
        sequence.waiting.add(ticket);
        sequence.closed = step.ends();
    }

    /** Gives the sequence, of which steps wait, the first free slot. */
    private void place(Sequence sequence, long now) {
        int number = freeSlots.nextSetBit(0);
        freeSlots.clear(number);
        sequence.place(number % instances.length, number / instances.length);
        instance(sequence).add(sequence);
        ready(sequence, now);
    }

    private void ready(Sequence sequence, long now) {
        instance(sequence).ready().add(sequence);
        consider(sequence.instance(), now);
    }

    /** Ends a sequence that has a slot, and is neither among the ready ones nor the idle ones any more. */
    private void end(Sequence sequence, long now) {
        open.remove(sequence.id(), sequence);
        instance(sequence).remove(sequence);
        freeSlots.set(sequence.slot() * instances.length + sequence.instance());
        ended.add(sequence);
        if (!backlog.isEmpty()) {
            Sequence next = backlog.iterator().next();
            backlog.remove(next);
            place(next, now);
        }
    }

    /** The sequences that have ended since this was asked last; the caller closes them. */
    List<Sequence> takeEnded() {
        if (ended.isEmpty()) {
            return List.of();
        }
        List<Sequence> taken = List.copyOf(ended);
        ended.clear();
        return taken;
    }

    /** An instance that sleeps and is to be woken; it counts as awake from now on. Mostly {@link Dispatcher#NONE}. */
    int instanceToWake() {
        int next = toWake.nextSetBit(0);
        if (next >= 0) {
            toWake.clear(next);
        }
        return next;
    }

    /** Wakes an instance that sleeps for longer than it should now. */
    private void consider(int number, long now) {
        InstanceSequences instance = instances[number];
        if (!instance.asleep) {
            return;
        }
        waitNanos = Dispatcher.FOREVER;
        long nanos = !instance.stalled && attempt(instance, now) > 0 ? 0 : nanosToSleep(instance, now);
        candidates.clear();
        if (nanos == Dispatcher.FOREVER
                || (instance.wakesAt != Dispatcher.FOREVER && instance.wakesAt - now <= nanos && nanos > 0)) {
            return;
        }
        instance.asleep = false;
        toWake.set(number);
    }

    /**
     * What an instance that is awake and runs nothing does now: runs the tickets that this puts into {@code batch}, which are marked as
     * running, by slot where the strategy keeps them in place; or, when there are none, sleeps for the nanoseconds that this answers, or
     * {@link Dispatcher#FOREVER}, or until it is woken, and asks again; or ends, when this answers {@link Dispatcher#END}.
     */
    long take(int number, long now, List<T> batch) {
        InstanceSequences instance = instances[number];
        instance.asleep = false;
        toWake.clear(number);
        endIdle(instance, now);
        int sent = attempt(instance, now);
        if (sent == 0) {
            dismiss(number);
        } else if (!turns.ask(number)) {
            instance.stalled = true;
        } else {
            instance.stalled = false;
            for (int i = 0; i < sent; i++) {
                T ticket = candidates.get(i);
                Sequence sequence = ticket.step().sequence();
                instance.ready().remove(sequence);
                sequence.waiting.remove(ticket);
                sequence.running = true;
                sequence.begun = true;
                ticket.become(State.RUNNING);
                batch.add(ticket);
            }
            candidates.clear();
            count(-sent);
            if (policy.strategy() == SequencePolicy.Strategy.DIRECT) {
                batch.sort(BY_SLOT);
            }
            return 0;
        }
        candidates.clear();
        if (stopping && instance.isEmpty()) {
            return Dispatcher.END;
        }
        long nanos = nanosToSleep(instance, now);
        instance.asleep = true;
        instance.wakesAt = nanos == Dispatcher.FOREVER ? Dispatcher.FOREVER : now + nanos;
        return nanos;
    }

    /** Has an instance wait for its turn no more when there is nothing to run: others behind it may need the same. */
    private void dismiss(int number) {
        if (instances[number].stalled) {
            instances[number].stalled = false;
            turns.decline(number);
        }
    }

    /** Notes that an instance has run a batch, whose tickets are then to be completed. */
    void finish(List<T> batch, long now) {
        for (int i = 0; i < batch.size(); i++) {
            SequenceStep step = batch.get(i).step();
            Sequence sequence = step.sequence();
            sequence.running = false;
            if (step.starts() && !step.isDone()) {
                passStartOn(sequence, sequence.waiting.first());
            }
            if (sequence.waiting.size() > 0) {
                ready(sequence, now);
            } else {
                rest(sequence, now);
            }
        }
    }

    private static void passStartOn(Sequence sequence, @Nullable Ticket next) {
        if (next != null) {
            next.step().start();
        } else {
            sequence.startDue = true;
        }
    }

    /** Nothing of the sequence, which has a slot, waits or runs any more: it ends, or may have more to do later. */
    private void rest(Sequence sequence, long now) {
        if (sequence.closed || !sequence.begun || stopping) {
            end(sequence, now);
            return;
        }
        sequence.idleSince = now;
        instance(sequence).idle().add(sequence);
        consider(sequence.instance(), now);
    }

    private void endIdle(InstanceSequences instance, long now) {
        for (Sequence next = instance.idle().first();
                next != null && (stopping || hasIdledTooLong(next, now));
                next = instance.idle().first()) {
            instance.idle().remove(next);
            end(next, now);
        }
    }

    private boolean hasIdledTooLong(Sequence sequence, long now) {
        return now - sequence.idleSince >= policy.maxIdleNanos();
    }

    /** Takes a ticket out that still waits; false when it does not. */
    boolean withdraw(Ticket ticket, long now) {
        if (ticket.state() != State.QUEUED) {
            return false;
        }
        SequenceStep step = ticket.step();
        Sequence sequence = step.sequence();
        if (step.starts()) {
            passStartOn(sequence, ticket.later);
        }
        sequence.waiting.remove(ticket);
        count(-1);
        ticket.become(State.WITHDRAWN);
        if (sequence.isIdle()) {
            if (sequence.hasSlot()) {
                instance(sequence).ready().remove(sequence);
                // Once the scheduler stops an instance ends by itself, when its turn has come.
                if (instance(sequence).ready().isEmpty() && !stopping) {
                    dismiss(sequence.instance());
                }
                rest(sequence, now);
            } else {
                forget(sequence);
            }
        }
        return true;
    }

    /**
     * Ends a ticket whose time is over and whose sequence waits for a slot, and with it the whole sequence. Any other is left alone: once
     * its sequence has a slot it is too late.
     */
    void expire(Ticket ticket) {
        if (ticket.state() != State.QUEUED || ticket.step().sequence().hasSlot()) {
            return;
        }
        Sequence sequence = ticket.step().sequence();
        for (Ticket next = sequence.waiting.first(); next != null; next = sequence.waiting.first()) {
            sequence.waiting.remove(next);
            count(-1);
            next.expire();
        }
        forget(sequence);
    }

    /** Ends a sequence that waits for a slot and has no steps any more. */
    private void forget(Sequence sequence) {
        backlog.remove(sequence);
        open.remove(sequence.id(), sequence);
    }

    /** Takes no more tickets. Those that wait still run. All instances are then to be woken; each ends when it has no sequence. */
    void drain(long now) {
        stopping = true;
        for (InstanceSequences instance : instances) {
            endIdle(instance, now);
        }
    }

    /** Takes no more tickets and refuses those that wait. All instances are then to be woken; they will end. */
    void stop(long now) {
        stopping = true;
        backlog.forEach(this::refuse);
        backlog.clear();
        open.clear();
        for (InstanceSequences instance : instances) {
            endIdle(instance, now);
            for (int slot = 0; slot < instance.slotCount(); slot++) {
                Sequence sequence = instance.at(slot);
                if (sequence != null) {
                    refuse(sequence);
                    if (instance.ready().remove(sequence)) {
                        rest(sequence, now);
                    }
                }
            }
        }
    }

    private void refuse(Sequence sequence) {
        for (Ticket ticket = sequence.waiting.first(); ticket != null; ticket = sequence.waiting.first()) {
            sequence.waiting.remove(ticket);
            count(-1);
            ticket.refuse();
        }
    }

    /**
     * Looks at the steps that could run now, and puts those of the best batch in front of the candidates. Answers how many that are; 0 when
     * there are none, or when more may come before {@link #waitNanos} are over.
     */
    private int attempt(InstanceSequences instance, long now) {
        candidates.clear();
        waitNanos = Dispatcher.FOREVER;
        long oldest = now;
        boolean blocked = false;
        for (Sequence sequence : instance.ready()) {
            T ticket = first(sequence);
            oldest = Math.min(oldest, ticket.submittedNanos);
            if (candidates.isEmpty() || ticket.joins(candidates.getFirst())) {
                candidates.add(ticket);
            } else if (policy.strategy() == SequencePolicy.Strategy.OLDEST) {
                blocked = true;
                break;
            }
            if (policy.strategy() == SequencePolicy.Strategy.OLDEST && candidates.size() == sizes.length) {
                break;
            }
        }
        if (candidates.isEmpty()) {
            return 0;
        }
        int sent =
                switch (policy.strategy()) {
                    case DIRECT ->
                        stopping || policy.isWorthwhile(instance.ready().size(), now - oldest) ? candidates.size() : 0;
                    case OLDEST ->
                        BatchDecision.decide(batches, sizes, candidates.size(), blocked || stopping, now - oldest);
                };
        if (sent == 0) {
            waitNanos = policy.maxQueueDelayNanos() - (now - oldest);
        }
        return sent;
    }

    @SuppressWarnings("unchecked") // only submit() puts tickets in
    private T first(Sequence sequence) {
        Ticket ticket = sequence.waiting.first();
        if (ticket == null) {
            throw new AssertionError("sequence " + sequence.id() + " is ready and has no step");
        }
        return (T) ticket;
    }

    /** How long an instance for which the last attempt found nothing sleeps at most. */
    private long nanosToSleep(InstanceSequences instance, long now) {
        Sequence idlest = instance.idle().first();
        if (idlest == null) {
            return waitNanos;
        }
        return Math.min(waitNanos, Math.max(0, policy.maxIdleNanos() - (now - idlest.idleSince)));
    }

    private InstanceSequences instance(Sequence sequence) {
        return instances[sequence.instance()];
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void count(int by) {
        pending += by;
    }
}
