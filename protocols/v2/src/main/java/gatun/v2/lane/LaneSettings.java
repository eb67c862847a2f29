// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.runtime.server.InferenceService;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledExecutorService;

/**
 * How lanes are served.
 *
 * @param threads how many threads look for requests; each serves up to 127 lanes, and exists from the first on
 * @param spinMicros how long a thread may look for the next request before it sleeps, in microseconds, where its last
 *     caller does not sleep either and requests come faster than that; 0 for never
 */
public record LaneSettings(int threads, int spinMicros) {
    /** The most threads. */
    public static final int MAX_THREADS = 64;
    /** The longest look, in microseconds. */
    public static final int MAX_SPIN_MICROS = 1000;

    /** One thread, which looks for a moment where its caller does. */
    public static final LaneSettings STANDARD = new LaneSettings(1, 20);

    /** Checks the numbers. */
    public LaneSettings {
        if (threads < 1 || threads > MAX_THREADS) {
            throw new IllegalArgumentException(threads + " threads for lanes: expected 1 to " + MAX_THREADS);
        }
        if (spinMicros < 0 || spinMicros > MAX_SPIN_MICROS) {
            throw new IllegalArgumentException(
                    "threads of lanes spin for " + spinMicros + " us: expected 0 to " + MAX_SPIN_MICROS);
        }
    }

    /** The objects that all lanes of a server share. */
    record LaneResources(InferenceService server, ScheduledExecutorService timer) {}

    /**
     * A lane that is open, for people to read. Its name is its client's secret, so that it has a number instead.
     *
     * @param number of the lane, the one that flight recordings give it
     * @param owner the process of its client; empty where it is not known
     * @param byteSize its memory in bytes
     * @param slots how many requests may be under way
     * @param inFlight how many are
     */
    public record LaneUse(long number, OptionalLong owner, long byteSize, int slots, int inFlight) {}
}
