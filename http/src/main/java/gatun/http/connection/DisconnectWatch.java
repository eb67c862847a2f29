// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.threads.FailureLog;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds clients that leave while their requests wait and nobody reads. Its thread exists while needed. Thread-safe. */
final class DisconnectWatch {
    private static final Logger LOG = LoggerFactory.getLogger(DisconnectWatch.class);

    /** How long between two rounds; a request is looked at from its second round on. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** How many sockets may be looked at in one period; with more of them, rounds take longer. */
    private static final int LOOKS_IN_A_PERIOD = 1000;

    /** After this many rounds in which no request waited, the thread ends. */
    private static final int IDLE_ROUNDS = 40;

    private static final int READ_AT_ONCE = 1024;

    private final Set<ClientConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean running = new AtomicBoolean();

    /** For the watching thread, of which there is one at a time. */
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(READ_AT_ONCE);

    void add(ClientConnection connection) {
        connections.add(connection);
    }

    void remove(ClientConnection connection) {
        connections.remove(connection);
    }

    /** Ends connections of slow readers when memory runs out. Thread-safe; does not block. */
    void endSlowReaders() {
        connections.forEach(ClientConnection::endIfReadTooSlowly);
    }

    Stream<ClientConnection> connections() {
        return connections.stream();
    }

    /** Says that a request waits on one of the connections. Costs a read of a flag while the thread runs. */
    void wakeUp() {
        if (!running.get() && running.compareAndSet(false, true)) {
            Thread.ofVirtual().name("http-disconnect-watch").start(this::watch);
        }
    }

    private void watch() {
        int idleRounds = 0;
        while (idleRounds < IDLE_ROUNDS) {
            LockSupport.parkNanos(this, PERIOD_NANOS);
            idleRounds = roundOrFailure() ? 0 : idleRounds + 1;
        }
        running.set(false);
        if (connections.stream().anyMatch(ClientConnection::isWaitedFor)) {
            // It came between the last round and the end, and perhaps saw a thread that would still look.
            wakeUp();
        }
    }

    /** As {@link #round}; a failure ends one round and not the watch, which nobody would begin anew. */
    private boolean roundOrFailure() {
        try {
            return round();
        } catch (RuntimeException | Error e) {
            FailureLog.write(e, failure -> LOG.error("Looking for clients that have left failed", failure));
            return true;
        }
    }

    /** Looks at every connection once; returns whether a request waited on any. */
    private boolean round() {
        boolean waiting = false;
        int looks = 0;
        for (ClientConnection connection : connections) {
            switch (connection.look(scratch)) {
                case NOTHING_WAITS -> {}
                case NOT_LOOKED -> waiting = true;
                case LOOKED -> {
                    waiting = true;
                    looks++;
                    if (looks % LOOKS_IN_A_PERIOD == 0) {
                        LockSupport.parkNanos(this, PERIOD_NANOS);
                    }
                }
            }
        }
        return waiting;
    }
}
