// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagGroup.Flag;
import gatun.server.commandline.FlagGroup.OverlayFlags;
import gatun.v2.lane.LaneSettings;

/** How lanes are served. Read once. */
final class LaneFlags extends OverlayFlags<LaneSettings> {
    private final Flag<Integer> threads = flag(
            "--lane-threads",
            FlagType.whole(
                    "N", 1, LaneSettings.MAX_THREADS, "a number of threads from 1 to " + LaneSettings.MAX_THREADS),
            standard.threads(),
            "How many threads look for requests in clients' lanes; each serves up to 127 lanes. None is there before"
                    + " the first lane is.");
    private final Flag<Integer> spinMicros = flag(
            "--lane-spin-us",
            FlagType.whole(
                    "MICROSECONDS",
                    0,
                    LaneSettings.MAX_SPIN_MICROS,
                    "a number of microseconds from 0 to " + LaneSettings.MAX_SPIN_MICROS),
            standard.spinMicros(),
            "How long such a thread looks for the next request before it sleeps, where requests come faster than that"
                    + " from a client that spins; 0 for not at all. It takes a core while they do.");

    LaneFlags(LaneSettings standard) {
        super(standard);
    }

    LaneSettings settings() {
        return new LaneSettings(threads.value(), spinMicros.value());
    }
}
