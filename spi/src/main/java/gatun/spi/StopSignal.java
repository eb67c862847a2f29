// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Waits that {@link BackendInstance#stop} ends, without an engine. {@link #stop} is thread-safe. */
public final class StopSignal {
    private final ReentrantLock lock = new ReentrantLock();

    /** Awaited by the instance's thread, signalled by stop. */
    private final Condition stopping = lock.newCondition();

    private boolean stopped; // guarded by lock

    /** A signal that nobody has given. */
    public StopSignal() {}

    /** Forgets the run before; the first call in each run. Throws CANCELLED when nobody wants its response any more. */
    public void begin(Execution execution) {
        lock.lock();
        try {
            stopped = false;
        } finally {
            lock.unlock();
        }
        // A stop that came before is not lost: its requests were given up first.
        if (!execution.requests().isEmpty() && execution.requests().stream().allMatch(ExecutionRequest::cancelled)) {
            throw stoppedRun();
        }
    }

    /** Stops the present run; the backend's own {@code stop} calls this. */
    public void stop() {
        lock.lock();
        try {
            stopped = true;
            stopping.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits that long. Throws CANCELLED when the run was stopped, before or meanwhile. */
    public void await(Duration time) {
        lock.lock();
        try {
            long nanos = time.toNanos();
            while (nanos > 0 && !stopped) {
                nanos = stopping.awaitNanos(nanos);
            }
            if (stopped) {
                throw stoppedRun();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.CANCELLED, "the instance was interrupted while it waited", e);
        } finally {
            lock.unlock();
        }
    }

    private static GatunException stoppedRun() {
        return new GatunException(ErrorCode.CANCELLED, "the run was stopped, because nobody wants its answer any more");
    }
}
