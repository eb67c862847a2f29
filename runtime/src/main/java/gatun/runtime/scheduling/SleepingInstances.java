// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.BitSet;

/** When each instance that runs sequences wakes, and which to wake before. Guarded by the scheduler's lock. */
final class SleepingInstances {
    private final SequencePolicy policy;
    private final SequenceSlots slots;
    private final StepCandidates<?> candidates;
    private final BitSet toWake = new BitSet();

    SleepingInstances(SequencePolicy policy, SequenceSlots slots, StepCandidates<?> candidates) {
        this.policy = policy;
        this.slots = slots;
        this.candidates = candidates;
    }

    /** An instance that sleeps and is to be woken; {@link Dispatcher#NONE} when there is none. */
    int next() {
        int next = toWake.nextSetBit(0);
        if (next >= 0) {
            toWake.clear(next);
        }
        return next;
    }

    /** Has an instance woken if it sleeps; it counts as awake from now on. */
    void wake(int number) {
        InstanceSequences instance = slots.instance(number);
        if (instance.asleep) {
            instance.asleep = false;
            toWake.set(number);
        }
    }

    /** Has an instance woken if it sleeps too long now; {@code hurried} if its steps wait for no others. */
    void consider(int number, boolean hurried, long now) {
        InstanceSequences instance = slots.instance(number);
        if (!instance.asleep) {
            return;
        }
        long nanos;
        if (instance.stalled) {
            nanos = instance.nanosToIdle(policy.maxIdleNanos(), now);
        } else {
            nanos = candidates.form(instance, hurried, now) ? 0 : nanosToSleep(instance, now);
            candidates.forget();
        }
        if (nanos == Dispatcher.FOREVER
                || (instance.wakesAt != Dispatcher.FOREVER && instance.wakesAt - now <= nanos && nanos > 0)) {
            return;
        }
        wake(number);
    }

    /** Notes that an instance is awake, woken or not. */
    void arrive(int number) {
        slots.instance(number).asleep = false;
        toWake.clear(number);
    }

    /** Notes that an instance, for which the last attempt found nothing, sleeps; returns for how long at most. */
    long rest(int number, long now) {
        InstanceSequences instance = slots.instance(number);
        long nanos = nanosToSleep(instance, now);
        instance.asleep = true;
        instance.wakesAt = nanos == Dispatcher.FOREVER ? Dispatcher.FOREVER : now + nanos;
        return nanos;
    }

    private long nanosToSleep(InstanceSequences instance, long now) {
        return Math.min(candidates.waitNanos(), instance.nanosToIdle(policy.maxIdleNanos(), now));
    }
}
