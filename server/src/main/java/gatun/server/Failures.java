// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handling of errors that no thread catches. A failure of one request concerns that request only; a JVM that is out
 * of memory concerns all: it ends, so that its supervisor starts a new one. (The launcher asks the JVM to do so where
 * it runs out by itself; this class handles errors that libraries throw and threads die of.)
 */
public final class Failures {
    /** As the JVM's own {@code -XX:+ExitOnOutOfMemoryError}. */
    public static final int OUT_OF_MEMORY = 3;

    private Failures() {}

    /** Handles the uncaught errors of all threads without a handler of their own. */
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
