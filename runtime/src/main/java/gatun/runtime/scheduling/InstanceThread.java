package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The platform thread of one instance. While it is idle it parks, and whoever brings it a ticket wakes it directly.
 *
 * @param <T> what it runs
 */
final class InstanceThread<T extends Ticket> {
    private final Worker<T> worker;
    private final Thread thread;
    private final CountDownLatch opened = new CountDownLatch(1);
    /** Written before {@link #opened} is counted down, read after. */
    private @Nullable Throwable openFailure;

    /** Written by whoever brings a ticket, while this thread is idle. */
    private volatile @Nullable T handed;

    private volatile boolean ending;

    /** Whether this idle thread wakes up from time to time to look at the queue; guarded by the scheduler's lock, but for its own reads. */
    volatile boolean watches;

    /**
     * A thread that has not started.
     *
     * @param loop runs tickets until the scheduler ends; called on the thread when the worker has opened
     */
    InstanceThread(Worker<T> worker, Consumer<InstanceThread<T>> loop) {
        this.worker = worker;
        // A daemon: an engine that never returns must not keep the process alive after its grace period.
        thread = Thread.ofPlatform().name(worker.threadName()).daemon(true).unstarted(() -> live(loop));
    }

    void start() {
        thread.start();
    }

    private void live(Consumer<InstanceThread<T>> loop) {
        try {
            worker.open();
        } catch (Throwable t) {
            openFailure = t;
            return;
        } finally {
            opened.countDown();
        }
        try {
            loop.accept(this);
        } finally {
            worker.close();
        }
    }

    /** Waits until the worker is ready, and throws what kept it from that. Uninterruptible: loading is not abandoned half way. */
    void awaitOpen() {
        boolean interrupted = false;
        while (true) {
            try {
                opened.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        switch (openFailure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a worker may not throw this", t);
        }
    }

    /** Runs a ticket that is marked as running, on this thread; answers how long it took, in nanoseconds. */
    long run(T ticket) {
        assert Thread.currentThread().equals(thread) : "run by " + Thread.currentThread();
        try {
            return worker.run(ticket);
        } finally {
            ticket.complete();
        }
    }

    /** Gives this idle thread a ticket that is marked as running. */
    void hand(T ticket) {
        handed = ticket;
        LockSupport.unpark(thread);
    }

    /**
     * Parks until a ticket is handed, the thread must end, or the time is over; null for the latter two.
     *
     * @param nanos how long to wait; 0 for ever
     */
    @Nullable
    T awaitHanded(long nanos) {
        long deadline = nanos == 0 ? 0 : System.nanoTime() + nanos;
        while (true) {
            T ticket = handed;
            if (ticket != null) {
                handed = null;
                return ticket;
            }
            if (ending) {
                return null;
            }
            if (nanos == 0) {
                LockSupport.park(this);
                continue;
            }
            long remaining = deadline - System.nanoTime();
            if (remaining <= 0) {
                return null;
            }
            LockSupport.parkNanos(this, remaining);
        }
    }

    /** Whether the thread must end once it is idle. */
    boolean isEnding() {
        return ending;
    }

    /** Lets the thread end; only while it is idle, or by itself. */
    void end() {
        ending = true;
        LockSupport.unpark(thread);
    }

    /** Waits for the thread to end; false when it has not, or when the caller was interrupted, whose mark is kept. */
    boolean join(Duration grace) {
        if (thread.getState() == Thread.State.NEW) {
            return true;
        }
        try {
            return thread.join(grace);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !thread.isAlive();
        }
    }
}
