// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Idle connections, the last used first, so that others grow old and are closed. Thread-safe. */
final class IdleConnections {
    /** Many servers close connections that were idle for a minute or more. */
    private static final long LONGEST_IDLE_NANOS = 50_000_000_000L;

    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by {@link #lock}; the youngest first. */
    private final ArrayDeque<HttpConnection> connections = new ArrayDeque<>();
    /** Guarded by {@link #lock}. */
    private boolean closed;

    /** Takes the youngest, or null where none is young enough. */
    @Nullable
    HttpConnection poll() {
        HttpConnection found;
        lock.lock();
        try {
            found = connections.pollFirst();
        } finally {
            lock.unlock();
        }
        return found;
    }

    /** Takes a connection back; false once closed. The caller closes those that were idle for too long. */
    boolean offer(HttpConnection connection) {
        lock.lock();
        try {
            if (!closed) {
                connections.addFirst(connection);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    Optional<HttpConnection> pollOld(long now) {
        lock.lock();
        try {
            HttpConnection oldest = connections.peekLast();
            return oldest != null && now - oldest.idleSince() > LONGEST_IDLE_NANOS
                    ? Optional.ofNullable(connections.pollLast())
                    : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Refuses connections from now on. */
    void close() {
        lock.lock();
        try {
            closed = true;
            connections.clear();
        } finally {
            lock.unlock();
        }
    }
}
