// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Threads for the server's life: what their work throws is logged, and the work begins anew. */
public final class SupervisedThread {
    private static final Logger LOG = System.getLogger("gatun.threads");

    /** Between a failure and the next attempt, so that work that fails at once does not fill the log. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private SupervisedThread() {}

    /**
     * An unstarted daemon platform thread. Calls {@code work} again after it has thrown; it ends the thread by
     * returning, at once when it is called after its owner was closed.
     */
    public static Thread unstarted(String name, Runnable work) {
        return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(name, work));
    }

    /** As {@link #unstarted}, and starts it. */
    public static Thread start(String name, Runnable work) {
        Thread thread = unstarted(name, work);
        thread.start();
        return thread;
    }

    private static void run(String name, Runnable work) {
        while (true) {
            try {
                work.run();
                return;
            } catch (Throwable t) {
                FailureLog.write(
                        t, failure -> LOG.log(Level.ERROR, "thread '" + name + "' failed and goes on anew", failure));
            }
            Thread.interrupted(); // a mark that the failure left would end the pause
            LockSupport.parkNanos(PAUSE.toNanos());
        }
    }
}
