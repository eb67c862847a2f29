// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The sequences that have the slots of one instance, and the state of its thread. Guarded by the scheduler's lock. */
final class InstanceSequences {
    private final @Nullable Sequence[] slots;
    private int count;

    /** Those of which a step waits and none runs; the one that has been so for longest first. */
    private final Set<Sequence> ready = new LinkedHashSet<>();

    private final IntrusiveList<Sequence> idle = new IntrusiveList<>();

    /** Whether others may get its free slots. */
    boolean admitted;

    /** Whether it ends when its last sequence does. */
    boolean leaving;

    boolean ended;

    /** Whether the thread runs what it was given last. */
    boolean runs;

    /** Whether the thread sleeps until it is woken, or until {@link #wakesAt}. */
    boolean asleep = true;

    /** Whether the thread sleeps, at least also, because its {@link RunPermit} has not come. */
    boolean stalled;

    /** When the thread wakes by itself; {@link Dispatcher#FOREVER} for never. */
    long wakesAt = Dispatcher.FOREVER;

    InstanceSequences(int slotCount) {
        slots = new Sequence[slotCount];
    }

    /** Whether all slots are free. */
    boolean isEmpty() {
        return count == 0;
    }

    int sequenceCount() {
        return count;
    }

    int slotCount() {
        return slots.length;
    }

    /** The sequence that has a slot; null when it is free. */
    @Nullable
    Sequence at(int slot) {
        return slots[slot];
    }

    /** Gives the sequence its slot, which is free. */
    void add(Sequence sequence) {
        slots[sequence.slot()] = sequence;
        count++;
    }

    void remove(Sequence sequence) {
        slots[sequence.slot()] = null;
        count--;
    }

    Set<Sequence> ready() {
        return ready;
    }

    IntrusiveList<Sequence> idle() {
        return idle;
    }

    /** Nanoseconds until the first sequence times out; {@link Dispatcher#FOREVER} when none idles. */
    long nanosToIdle(long maxIdleNanos, long now) {
        Sequence idlest = idle.first();
        return idlest == null ? Dispatcher.FOREVER : Math.max(0, maxIdleNanos - (now - idlest.idleSince));
    }
}
