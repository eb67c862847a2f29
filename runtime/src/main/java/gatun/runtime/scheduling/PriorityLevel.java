// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** The requests of a priority level: first in, first out, then those put back. Guarded by the scheduler's lock. */
final class PriorityLevel {
    private final long number;
    private final IntrusiveList<PendingRequest> punctual = new IntrusiveList<>();
    private final IntrusiveList<PendingRequest> delayed = new IntrusiveList<>();

    /** The load against the level's capacity, without requests for which an instance is on its way. */
    int load;

    PriorityLevel(long number) {
        this.number = number;
    }

    long number() {
        return number;
    }

    boolean isEmpty() {
        return punctual.size() == 0 && delayed.size() == 0;
    }

    /** The request whose turn it is in this level; null when none waits. */
    @Nullable
    PendingRequest first() {
        PendingRequest first = punctual.first();
        return first != null ? first : delayed.first();
    }

    /** The request whose turn it is in this level after {@code request}, which waits here; null when none is. */
    @Nullable
    PendingRequest after(PendingRequest request) {
        PendingRequest next = request.next;
        return next != null || request.delayed ? next : delayed.first();
    }

    void add(PendingRequest request) {
        punctual.add(request);
        request.waitsIn = this;
    }

    /** Puts a request that waits here, and was not put back before, behind all others. */
    void delay(PendingRequest request) {
        punctual.remove(request);
        request.delayed = true;
        delayed.add(request);
    }

    void remove(PendingRequest request) {
        (request.delayed ? delayed : punctual).remove(request);
        request.waitsIn = null;
    }
}
