// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends a process whose stop hangs, for example in an engine that does not return. */
final class StopDeadline {
    private static final Duration BEYOND_GRACE = Duration.ofSeconds(10);
    private static final int HUNG = 1;

    private StopDeadline() {}

    /** From now on, the process must end within {@code grace} and some seconds to clean up. */
    static void start(Duration grace) {
        Thread.ofPlatform().daemon().name("stop-deadline").start(() -> {
            try {
                Thread.sleep(grace.plus(BEYOND_GRACE));
            } catch (InterruptedException e) {
                return;
            }
            Logger log = LoggerFactory.getLogger(StopDeadline.class);
            log.error(
                    "The stop took longer than {} s; the process ends now",
                    grace.plus(BEYOND_GRACE).toSeconds());
            Runtime.getRuntime().halt(HUNG);
        });
    }
}
