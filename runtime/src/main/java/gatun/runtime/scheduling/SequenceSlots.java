// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The slots of a model's instances, and the sequences that wait for one. Guarded by the scheduler's lock. */
final class SequenceSlots {
    private InstanceSequences[] instances;
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
            open(i);
        }
    }

    List<InstanceSequences> instances() {
        return List.of(instances);
    }

    InstanceSequences instance(int number) {
        return instances[number];
    }

    InstanceSequences instanceOf(Sequence sequence) {
        return instances[sequence.instance()];
    }

    /** How many sequences have a slot or wait for one. */
    int sequenceCount() {
        int count = backlog.size();
        for (InstanceSequences instance : instances) {
            count += instance.sequenceCount();
        }
        return count;
    }

    boolean isAnyFree() {
        return !free.isEmpty();
    }

    /** Gives a new sequence the first free slot; returns false when there is none, and it waits for one. */
    boolean assign(Sequence sequence) {
        if (free.isEmpty()) {
            backlog.add(sequence);
            return false;
        }
        place(sequence);
        return true;
    }

    /** Gives a free slot to the sequence that waits longest, and returns it; empty without either. */
    Optional<Sequence> assignNext() {
        if (backlog.isEmpty() || free.isEmpty()) {
            return Optional.empty();
        }
        Sequence next = backlog.iterator().next();
        backlog.remove(next);
        place(next);
        return Optional.of(next);
    }

    private void place(Sequence sequence) {
        int slot = free.nextSetBit(0);
        free.clear(slot);
        sequence.place(slot % instances.length, slot / instances.length);
        instanceOf(sequence).add(sequence);
    }

    /** Takes a sequence's slot away; it is free where its instance still takes sequences. */
    void release(Sequence sequence) {
        InstanceSequences instance = instanceOf(sequence);
        instance.remove(sequence);
        if (instance.admitted) {
            free.set(sequence.slot() * instances.length + sequence.instance());
        }
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

    /** Adds an instance that takes no sequences yet, in an ended one's place; returns its number. */
    int reserve() {
        int number = 0;
        while (number < instances.length && !instances[number].ended) {
            number++;
        }
        if (number == instances.length) {
            grow();
        }
        instances[number] = new InstanceSequences(slotsOfEach);
        return number;
    }

    /** Makes room for one more instance, which changes the numbers of the free slots. */
    private void grow() {
        int before = instances.length;
        BitSet moved = new BitSet();
        free.stream().forEach(slot -> moved.set(slot / before * (before + 1) + slot % before));
        free.clear();
        free.or(moved);
        instances = Arrays.copyOf(instances, before + 1);
    }

    void open(int number) {
        instances[number].admitted = true;
        for (int slot = 0; slot < slotsOfEach; slot++) {
            free.set(slot * instances.length + number);
        }
    }

    /** Has an instance take no more sequences, and end when those that it has do; one that never took any has ended. */
    void retire(int number) {
        InstanceSequences instance = instances[number];
        if (instance.leaving) {
            return;
        }
        instance.leaving = true;
        instance.ended = !instance.admitted;
        instance.admitted = false;
        for (int slot = 0; slot < slotsOfEach; slot++) {
            free.clear(slot * instances.length + number);
        }
    }
}
