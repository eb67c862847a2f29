// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Restarts: at once, then after 1, 2, 4 ... 30 s for deaths in the last minute. Not thread-safe. */
public final class RestartPolicy {
    /** After so many deaths in a minute the model is out of service until a process lives. */
    public static final int LIMIT = 5;

    private static final long WINDOW_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long FIRST_DELAY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_DELAY_NANOS = Duration.ofSeconds(30).toNanos();

    /** When processes have ended within the last minute before the latest of them. */
    private final Deque<Long> deaths = new ArrayDeque<>();

    /** Without deaths. */
    public RestartPolicy() {}

    /** Notes that a process has ended, at a reading of {@link System#nanoTime}. */
    public void died(long now) {
        forget(now);
        deaths.addLast(now);
        if (deaths.size() > 2 * LIMIT) {
            deaths.removeFirst(); // more make no difference
        }
    }

    /** How long is to be waited from {@code now} on before the next start; 0 or less for not at all. */
    public long delayNanos(long now) {
        forget(now);
        if (deaths.size() < 2) {
            return 0;
        }
        long delay = Math.min(LONGEST_DELAY_NANOS, FIRST_DELAY_NANOS << (deaths.size() - 2));
        return deaths.getLast() + delay - now;
    }

    /** How many processes have ended within the minute before {@code now}. */
    public int recentDeaths(long now) {
        forget(now);
        return deaths.size();
    }

    private void forget(long now) {
        while (!deaths.isEmpty() && now - deaths.getFirst() > WINDOW_NANOS) {
            deaths.removeFirst();
        }
    }
}
