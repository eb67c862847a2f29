// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handling of errors that no thread catches. One request's failure is that request's; a JVM that is out of memory
 * is everybody's: it ends, so that whoever watches over it starts a new one. (The launcher asks the JVM for the same
 * where it runs out by itself; here are those errors that libraries throw and threads die of.)
 */
public final class Failures {
    /** As the JVM's own {@code -XX:+ExitOnOutOfMemoryError}. */
    public static final int OUT_OF_MEMORY = 3;

    private Failures() {}

    /** Watches all threads that do not watch themselves. */
    static void install() {
        Logger log = LoggerFactory.getLogger(Failures.class);
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            if (failure instanceof OutOfMemoryError) {
                // Nothing that allocates may stand before the exit.
                try {
                    log.error("Out of memory in thread {}; the process ends", thread.getName(), failure);
                } finally {
                    Runtime.getRuntime().halt(OUT_OF_MEMORY);
                }
            }
            log.error("Thread {} ended unexpectedly", thread.getName(), failure);
        });
    }
}
