// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/**
 * The sessions of one model version on the processor, one for each number of threads that is wanted: the instances of a
 * model run on the same ones, so that its weights are in memory once for each number and not for each instance. A
 * session may run on several threads at a time. Thread-safe.
 */
final class SessionPool {
    private final IntFunction<Session> opening;

    /** Held while a session is opened, so that nobody opens it a second time. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Map<Integer, Shared> sessions = new HashMap<>();

    /** @param opening opens a session with so many threads within an operator */
    SessionPool(IntFunction<Session> opening) {
        this.opening = opening;
    }

    /**
     * The session with so many threads, opened if nobody uses it. To be {@linkplain #giveBack given back}.
     *
     * @throws gatun.memory.tensor.GatunException when it cannot be opened
     */
    Session take(int threads) {
        lock.lock();
        try {
            Shared shared = sessions.get(threads);
            if (shared == null) {
                shared = new Shared(opening.apply(threads));
                sessions.put(threads, shared);
            }
            shared.users++;
            return shared.session;
        } finally {
            lock.unlock();
        }
    }

    /** Gives up a session with so many threads; the last to do so closes it. */
    void giveBack(int threads) {
        lock.lock();
        try {
            Shared shared = Objects.requireNonNull(sessions.get(threads));
            shared.users--;
            if (shared.users == 0) {
                sessions.remove(threads);
                shared.session.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private static final class Shared {
        private final Session session;
        private int users;

        Shared(Session session) {
            this.session = session;
        }
    }
}
