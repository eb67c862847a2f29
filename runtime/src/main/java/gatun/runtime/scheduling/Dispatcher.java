// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.List;

/**
 * The decisions of a {@link Scheduler}, without threads, locks or a clock: which requests run together, when, and
 * where. Instances are numbers from 0, which may be given again, and sleep at first. Times are of {@link
 * System#nanoTime} or one other clock. Guarded by the scheduler's lock. Ask {@link #instanceToWake} after each change
 * but {@link #finish}, {@link #drain} and {@link #stop}, and {@link #takeEnded} after each call.
 */
interface Dispatcher<T extends PendingRequest> {
    int NONE = -1;

    /** {@link #take}: sleep until woken. */
    long FOREVER = Long.MAX_VALUE;

    /** {@link #take}: there is nothing to run and never will be. */
    long END = -1;

    /** Has each request run alone, but for sequences. To be called before the first is submitted. */
    default void runAlone() {}

    /** How many requests wait. May be called without the lock. */
    int pendingCount();

    /** How many instances run something. */
    int busyCount();

    Admission submit(T request, long now);

    /** A sleeping instance to wake, mostly {@link #NONE}; it calls {@link #take}, and this is asked again. */
    int instanceToWake(long now);

    /**
     * Puts the requests that an awake instance without a run is to run into {@code batch}, marked as running. With
     * none, returns the nanoseconds to sleep unless woken, {@link #FOREVER}, or {@link #END}.
     */
    long take(int instance, long now, List<T> batch);

    /** Notes a run before its instance asks again, and how many requests waited when it ended. */
    default void recordRun(int instance, long nanos, int waiting, long now) {}

    /** Whether {@link #finish} is to be called after each run. The same at any time; may be called without the lock. */
    boolean followsRuns();

    /** Notes the end of a run. Requests that rerun or are refused leave {@code batch}; the rest is completed. */
    void finish(List<T> batch, long now);

    /** The sequences that have ended since this was asked last; the caller closes them, without the lock. */
    default List<Sequence> takeEnded() {
        return List.of();
    }

    /** Takes a request out that still waits; false when it does not. */
    boolean withdraw(PendingRequest request, long now);

    /** Ends, or puts back, as it wants, a request that still waits though its time is over; no other. */
    void expire(PendingRequest request);

    /** Number for an instance that is to open and gets nothing yet; {@link #NONE} while stopping. */
    int reserve();

    /** Has an instance that was reserved, and is open, take part from now on. It is then to be woken. */
    void admit(int instance, long now);

    /** Gives an instance nothing new; wake it, and it ends after its own work. A reserved one ends at once. */
    void retire(int instance, long now);

    /** Takes no more requests. Those that wait still run; all instances must be woken, and end when idle. */
    void drain(long now);

    /** Takes no more requests and refuses those that wait. All instances are then to be woken; they will end. */
    void stop(long now);

    /** The result of submitting a request to a scheduler. */
    public enum Admission {
        /** The scheduler owns the request and brings it to an end, unless its waiter withdraws it. */
        ACCEPTED,
        /** Too many wait already; the caller still owns the request. */
        QUEUE_FULL,
        /** The scheduler takes no more; the caller still owns the request. */
        STOPPING,
        /** It is the step of a sequence that has not begun, or is over; the caller still owns the request. */
        NO_SEQUENCE
    }
}
