// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * A clock for simulations: it stands still while something happens, and goes on to whatever happens next. For one
 * thread.
 */
final class EventLoop {
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private long now;
    private long eventNumber;

    private record Event(long at, long number, Runnable action) {}

    /** The time of the clock, in nanoseconds. */
    long now() {
        return now;
    }

    /** Schedules an action; of several at the same time, the one that was scheduled first runs first. */
    void after(long nanos, Runnable action) {
        events.add(new Event(now + nanos, eventNumber++, action));
    }

    /** Runs all actions, also those that they schedule; runs {@code check} after each. */
    void play(Runnable check) {
        for (Event next = events.poll(); next != null; next = events.poll()) {
            now = next.at;
            next.action.run();
            check.run();
        }
    }
}
