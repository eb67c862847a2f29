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

    /** The idle thread below this one; guarded by the scheduler's lock. */
    @Nullable
    InstanceThread<T> idleBelow;

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

    /** Runs a ticket that is marked as running, on this thread. */
    void run(T ticket) {
        assert Thread.currentThread().equals(thread) : "run by " + Thread.currentThread();
        try {
            worker.run(ticket);
        } finally {
            ticket.complete();
        }
    }

    /** Gives this idle thread a ticket that is marked as running. */
    void hand(T ticket) {
        handed = ticket;
        LockSupport.unpark(thread);
    }

    /** Parks until a ticket is handed or the thread must end; null for the latter. */
    @Nullable
    T awaitHanded() {
        while (true) {
            T ticket = handed;
            if (ticket != null) {
                handed = null;
                return ticket;
            }
            if (ending) {
                return null;
            }
            LockSupport.park(this);
        }
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
