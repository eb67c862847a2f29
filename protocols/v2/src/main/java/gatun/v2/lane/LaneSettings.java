// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.runtime.server.InferenceService;
import java.util.OptionalLong;
import java.util.concurrent.ScheduledExecutorService;

/**
 * How lanes are served: by {@code threads} that exist from the first lane on, each for up to 127. One looks for the
 * next request for {@code spinMicros}, 0 for never, if its last caller does not sleep and requests come faster.
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
     * An open lane for people to read, numbered as in flight recordings, for its name is its client's secret.
     * {@code owner} is the client's process, if known; of its {@code slots}, {@code inFlight} are under way.
     */
    public record LaneUse(long number, OptionalLong owner, long byteSize, int slots, int inFlight) {}
}
