// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/** A model version's sessions by number of threads; its instances share them and their weights. Thread-safe. */
final class SessionPool {
    private final IntFunction<Session> opening;

    /** Held while a session is opened, so that nobody opens it a second time. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Map<Integer, Shared> sessions = new HashMap<>();

    /** @param opening opens a session with so many threads within an operator */
    SessionPool(IntFunction<Session> opening) {
        this.opening = opening;
    }

    /** The session with so many threads, to be {@linkplain #giveBack given back}. Throws if it cannot be opened. */
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
