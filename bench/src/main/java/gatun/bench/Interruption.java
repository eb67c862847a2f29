// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** On Ctrl-C, prints the measurements: from {@link #measuring} on, the end waits for {@link #close}. Thread-safe. */
final class Interruption implements AutoCloseable {
    private static final long WAIT_SECONDS = 30;

    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupt, "bench-interruption");
    private volatile boolean asked;
    private volatile boolean measuring;

    private Interruption() {}

    /** Listens from now on. */
    static Interruption listen() {
        Interruption interruption = new Interruption();
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

    private void interrupt() {
        asked = true;
        if (!measuring) {
            return;
        }
        try {
            if (!finished.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("gatun: the measurement did not end within " + WAIT_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
