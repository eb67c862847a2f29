// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** Who reads the stream of events: not more than {@value #LIMIT} at a time. Safe for any thread. */
final class Viewers {
    /** How many there may be. */
    static final int LIMIT = 32;

    private final Semaphore places = new Semaphore(LIMIT);
    private final AtomicInteger count = new AtomicInteger();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /**
     * The calling thread becomes one, until what this returns is closed.
     *
     * @throws GatunException UNAVAILABLE when there are too many
     */
    Hold enter() {
        if (!places.tryAcquire()) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    LIMIT + " viewers read the events already, as many as may; close one, or ask for"
                            + " /v2/console/overview from time to time");
        }
        Thread thread = Thread.currentThread();
        threads.add(thread);
        count.incrementAndGet();
        return () -> {
            threads.remove(thread);
            count.decrementAndGet();
            places.release();
        };
    }

    /** How many there are. */
    int count() {
        return count.get();
    }

    /** Interrupts those that wait for their client to read, which ends their connections. */
    void interrupt() {
        threads.forEach(Thread::interrupt);
    }
}
