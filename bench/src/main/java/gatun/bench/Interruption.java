// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** On Ctrl-C, prints the measurements: from {@link #measuring} on, the end waits for {@link #close}. Thread-safe. */
final class Interruption implements AutoCloseable {
    private static final long WAIT_SECONDS = 30;

    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupt, "bench-interruption");
    private final PrintWriter err;
    private volatile boolean asked;
    private volatile boolean measuring;

    Interruption(PrintWriter err) {
        this.err = err;
    }

    /** Listens from now on. What there is to say besides the result goes to {@code err}. */
    static Interruption listen(PrintWriter err) {
        Interruption interruption = new Interruption(err);
        Runtime.getRuntime().addShutdownHook(interruption.hook);
        return interruption;
    }

    /** Whether the process is to end. */
    boolean isAsked() {
        return asked;
    }

    void measuring() {
        measuring = true;
    }

    @Override
    public void close() {
        finished.countDown();
        if (!asked) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The process is ending already, and the hook has nothing to wait for.
                return;
            }
        }
    }

    /** Runs when the process is to end. */
    void interrupt() {
        asked = true;
        if (!measuring) {
            say("gatun: interrupted before anything was measured");
            return;
        }
        try {
            if (!finished.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
                say("gatun: the measurement did not end within " + WAIT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void say(String line) {
        err.println(line);
        err.flush();
    }
}
