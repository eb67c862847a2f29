// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.threads.SupervisedThread;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Frees large buffers that were idle for a while, on a thread from {@link #start} to {@link #close}. */
final class BufferTrimmer implements AutoCloseable {
    /** A buffer that was idle through one whole period loses its memory at the end of the next. */
    private static final Duration PERIOD = Duration.ofSeconds(30);

    private final Thread thread;
    private volatile boolean closed;

    BufferTrimmer(Runnable trim) {
        thread = SupervisedThread.unstarted("buffer-trimmer", () -> run(trim));
    }

    /** Begins the work; called once at most. */
    void start() {
        thread.start();
    }

    private void run(Runnable trim) {
        long nextAt = System.nanoTime() + PERIOD.toNanos();
        while (!closed) {
            long left = nextAt - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(this, left);
                continue;
            }
            trim.run();
            nextAt = System.nanoTime() + PERIOD.toNanos();
        }
    }

    /** Returns when no memory is being given back any more, and none will be. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // The memory that is being given back must stay mapped until the thread has ended.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
