// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.bindings.sockets.EventPoll;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Connections that one {@linkplain SharedReader reader} serves; the next helps if it lost its core. Thread-safe. */
final class LentConnections {
    /** What a reader finds at a time. */
    private static final int FOUND = 64;

    /** How many connections of another reader's one serves at a time: their own may go on at any moment. */
    private static final int HELPED = 4;

    /** After so many connections that were found before, a look is due: nobody waits for those who always send. */
    private static final int LOOK_AFTER = 16;

    private static final int IDLE_MILLIS = 1000;
    private static final List<LentConnections> ALL = openAll();
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final EventPoll poll;
    private final SharedReader reader = new SharedReader(this);

    /** Connections that were found, and no thread serves yet. */
    private final Queue<LentConnection> ready = new ConcurrentLinkedQueue<>();

    /** How many are lent. Written under the lock. */
    private volatile int lent;

    /** By their descriptors. Written under the lock, and replaced when it is too short. */
    private volatile AtomicReferenceArray<@Nullable LentConnection> byDescriptor = new AtomicReferenceArray<>(256);

    /** How often the reader has looked for its next connection; for others as of some moment since they last looked. */
    private int looks;

    private LentConnections(EventPoll poll) {
        this.poll = poll;
    }

    private static List<LentConnections> openAll() {
        List<LentConnections> all = new ArrayList<>();
        for (int i = 0; i < SharedReader.COUNT; i++) {
            EventPoll.open().ifPresent(poll -> all.add(new LentConnections(poll)));
        }
        return all;
    }

    /** Where one more connection is lent to; empty where the system refuses. */
    static Optional<LentConnections> next() {
        return ALL.isEmpty()
                ? Optional.empty()
                : Optional.of(ALL.get(Math.floorMod(NEXT.getAndIncrement(), ALL.size())));
    }

    /** What finds connections that something has come from. */
    EventPoll poll() {
        return poll;
    }

    /** Serves {@code connection} when something comes on {@code descriptor}; false where no thread can be started. */
    boolean enter(int descriptor, LentConnection connection) {
        synchronized (this) {
            AtomicReferenceArray<@Nullable LentConnection> known = byDescriptor;
            if (descriptor >= known.length()) {
                AtomicReferenceArray<@Nullable LentConnection> more = new AtomicReferenceArray<>(2 * descriptor);
                for (int i = 0; i < known.length(); i++) {
                    more.set(i, known.get(i));
                }
                known = more;
                byDescriptor = known;
            }
            known.set(descriptor, connection);
            lent++;
        }
        return reader.begin();
    }

    /** {@code connection} is lent no more; its descriptor may be another one's already. */
    synchronized void exit(int descriptor, LentConnection connection) {
        byDescriptor.compareAndSet(descriptor, connection, null);
        lent--;
    }

    boolean isEmpty() {
        return lent == 0;
    }

    /** Has {@code connection} served again: more has come than was answered. */
    void addReady(LentConnection connection) {
        ready.add(connection);
    }

    /** Looks for connections that something has come from. For the reader's thread. */
    final class Look {
        private final EventPoll.Found found = new EventPoll.Found(FOUND);
        private final LentConnections neighbour = ALL.get((ALL.indexOf(LentConnections.this) + 1) % ALL.size());
        private final EventPoll.Found others = new EventPoll.Found(HELPED);
        private int neighboursLooks;
        private int takenSince;

        /** The next connection to be served, after a wait if need be; null where there is none for a while. */
        @Nullable
        LentConnection next() {
            looks++;
            LentConnection next = takenSince < LOOK_AFTER ? ready.poll() : null;
            if (next != null) {
                takenSince++;
                return next;
            }
            boolean isHelping = help();
            boolean isDue = takenSince == LOOK_AFTER;
            takenSince = 0;
            take(found, found.await(poll, isHelping || isDue ? 0 : IDLE_MILLIS), byDescriptor);
            return ready.poll();
        }

        private void take(
                EventPoll.Found found, int count, AtomicReferenceArray<@Nullable LentConnection> byDescriptor) {
            for (int i = 0; i < count; i++) {
                LentConnection connection = byDescriptor.get(found.socket(i));
                if (connection != null && connection.take(found.hasEnded(i))) {
                    ready.add(connection); // else it has been given back, or somebody serves it
                }
            }
        }

        /** Takes some connections of a neighbour that has not gone on since the last time; false if none. */
        private boolean help() {
            if (neighbour.looks != neighboursLooks || neighbour.isEmpty() || neighbour == LentConnections.this) {
                neighboursLooks = neighbour.looks;
                return false;
            }
            take(others, others.await(neighbour.poll, 0), neighbour.byDescriptor);
            for (int i = 0; i < HELPED; i++) {
                LentConnection theirs = neighbour.ready.poll();
                if (theirs != null) {
                    ready.add(theirs);
                }
            }
            return !ready.isEmpty();
        }
    }
}
