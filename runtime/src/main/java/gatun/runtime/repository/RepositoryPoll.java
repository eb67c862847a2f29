package gatun.runtime.repository;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Looks for changes in the repositories again and again, on a thread of its own. */
final class RepositoryPoll {
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Duration interval;
    private final Runnable look;

    private RepositoryPoll(Duration interval, Runnable look) {
        this.interval = interval;
        this.look = look;
    }

    /**
     * Begins.
     *
     * @param interval between the end of one look and the next
     * @param look looks once; must not throw
     */
    static RepositoryPoll start(Duration interval, Runnable look) {
        RepositoryPoll poll = new RepositoryPoll(interval, look);
        Thread.ofPlatform().name("repository-poll").daemon(true).start(poll::run);
        return poll;
    }

    private void run() {
        try {
            while (!closed.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
                look.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks no more, and does not wait for the look under way. */
    void close() {
        closed.countDown();
    }
}
