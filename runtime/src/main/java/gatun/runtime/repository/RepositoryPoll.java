// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.threads.SupervisedThread;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Looks for changes in the repositories from time to time, on its own thread. */
final class RepositoryPoll {
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Duration interval;
    private final Runnable look;

    private RepositoryPoll(Duration interval, Runnable look) {
        this.interval = interval;
        this.look = look;
    }

    /** Calls {@code look} again {@code interval} after it ended; what it throws is logged, and does not end this. */
    static RepositoryPoll start(Duration interval, Runnable look) {
        RepositoryPoll poll = new RepositoryPoll(interval, look);
        Thread thread = SupervisedThread.unstarted("repository-poll", poll::run);
        thread.start();
        return poll;
    }

    private void run() {
        while (!isClosedWithin()) {
            look.run();
        }
    }

    private boolean isClosedWithin() {
        try {
            return closed.await(interval.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Left by something that the last look called: nobody interrupts this thread to end it.
            return closed.getCount() == 0;
        }
    }

    /** Looks no more, and does not wait for the look under way. */
    void close() {
        closed.countDown();
    }
}
