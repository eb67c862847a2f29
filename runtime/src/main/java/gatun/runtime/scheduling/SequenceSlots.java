package gatun.runtime.scheduling;

import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The slots of a model's instances: which are free, and which sequences wait for one, in the order of their coming. Guarded by the
 * scheduler's lock.
 */
final class SequenceSlots {
    private final InstanceSequences[] instances;
    private final int slotsOfEach;

    /** The free slots: the first of all instances, then the second of all, and so on. */
    private final BitSet free = new BitSet();

    /** Those that wait for a slot; each has steps that wait. */
    private final Set<Sequence> backlog = new LinkedHashSet<>();

    /** All slots of that many instances, free. */
    SequenceSlots(int instanceCount, int slotsOfEach) {
        this.slotsOfEach = slotsOfEach;
        instances = new InstanceSequences[instanceCount];
        for (int i = 0; i < instanceCount; i++) {
            instances[i] = new InstanceSequences(slotsOfEach);
        }
        free.set(0, instanceCount * slotsOfEach);
    }

    List<InstanceSequences> instances() {
        return List.of(instances);
    }

    InstanceSequences instance(int number) {
        return instances[number];
    }

    /** The instance of a sequence that has a slot. */
    InstanceSequences instanceOf(Sequence sequence) {
        return instances[sequence.instance()];
    }

    /** How many sequences have a slot or wait for one. */
    int sequenceCount() {
        return instances.length * slotsOfEach - free.cardinality() + backlog.size();
    }

    /** Gives a new sequence the first free slot; answers false when there is none, and it waits for one. */
    boolean admit(Sequence sequence) {
        if (free.isEmpty()) {
            backlog.add(sequence);
            return false;
        }
        place(sequence);
        return true;
    }

    private void place(Sequence sequence) {
        int number = free.nextSetBit(0);
        free.clear(number);
        sequence.place(number % instances.length, number / instances.length);
        instanceOf(sequence).add(sequence);
    }

    /** Takes a sequence's slot away; answers the sequence that has waited for longest and has a slot now. */
    Optional<Sequence> release(Sequence sequence) {
        instanceOf(sequence).remove(sequence);
        free.set(sequence.slot() * instances.length + sequence.instance());
        if (backlog.isEmpty()) {
            return Optional.empty();
        }
        Sequence next = backlog.iterator().next();
        backlog.remove(next);
        place(next);
        return Optional.of(next);
    }

    /** Lets a sequence wait for a slot no longer. */
    void leave(Sequence sequence) {
        backlog.remove(sequence);
    }

    /** The sequences that waited for a slot, and do not any more. */
    List<Sequence> takeBacklog() {
        List<Sequence> taken = List.copyOf(backlog);
        backlog.clear();
        return taken;
    }
}
