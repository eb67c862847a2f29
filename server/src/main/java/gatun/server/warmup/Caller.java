// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has warm-up conversations on a thread of its own until told to end, one request of each at a time. */
final class Caller implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Caller.class);
    private static final int CONVERSATIONS = 16;
    private static final int REQUESTS = 200;
    private static final int MOST_FAILURES = 100;

    private final List<WarmUpConnection.Kind> kinds;
    private final AtomicLong answered = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    private final List<WarmUpConnection> current = new ArrayList<>(); // guarded by lock
    private boolean ended; // guarded by lock
    private int turn;
    private int failures;
    private volatile Optional<Exception> failure = Optional.empty();

    /** {@code first} is the index of the first kind. */
    Caller(List<WarmUpConnection.Kind> kinds, int first) {
        this.kinds = kinds;
        this.turn = first;
    }

    @Override
    public void run() {
        while (failures < MOST_FAILURES && !hasEnded()) {
            try {
                converse();
            } catch (IOException | RuntimeException e) {
                if (!hasEnded()) {
                    failures++;
                    failure = Optional.of(e);
                }
            } finally {
                endConversations();
            }
        }
    }

    private void converse() throws IOException {
        List<WarmUpConnection> begun = new ArrayList<>();
        for (int i = 0; i < CONVERSATIONS; i++) {
            WarmUpConnection conversation = kinds.get(turn++ % kinds.size()).begin();
            begun.add(conversation);
            keep(conversation);
        }
        for (int i = 0; i < REQUESTS && !hasEnded(); i++) {
            for (WarmUpConnection conversation : begun) {
                conversation.send();
            }
            for (WarmUpConnection conversation : begun) {
                conversation.receive();
            }
            answered.lazySet(answered.getPlain() + begun.size());
        }
    }

    private void keep(WarmUpConnection conversation) {
        lock.lock();
        try {
            current.add(conversation);
        } finally {
            lock.unlock();
        }
    }

    private boolean hasEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    private void endConversations() {
        lock.lock();
        try {
            for (WarmUpConnection conversation : current) {
                conversation.close();
            }
            current.clear();
        } catch (IOException e) {
            LOG.debug("a connection of the warm-up cannot be closed", e);
        } finally {
            lock.unlock();
        }
    }

    long answered() {
        return answered.get();
    }

    /** Why the last conversation failed that was not ended by {@link #end}; empty where none did. */
    Optional<Exception> failure() {
        return failure;
    }

    /** Has the thread end when it has the responses that it waits for. */
    void end() {
        lock.lock();
        try {
            ended = true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread, whatever it waits for. */
    void cut() {
        end();
        endConversations();
    }
}
