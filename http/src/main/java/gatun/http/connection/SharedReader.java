// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.threads.SupervisedThread;
import gatun.runtime.placement.LentThread;
import gatun.runtime.placement.LoanWatchdog;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@linkplain LentConnections connections} on a platform thread: requests are read and answered without another
 * thread being woken up. One thread at a time does that; before it waits for anything but requests, or where one lasts
 * ({@link LoanWatchdog}), another goes on. It exists while connections are lent. Safe for any thread.
 */
final class SharedReader implements LoanWatchdog.Lender {
    /** As many readers as may run at the same time, by logical processors as carriers are counted. */
    static final int COUNT = Runtime.getRuntime().availableProcessors();

    /** A request that is seen at so many looks one after the other has lasted 7.5 to 15 ms. */
    private static final int LOOKS = 2;

    /** The most threads that serve a request apart, over all readers, for each of them. */
    private static final int MOST_APART = 4;

    private static final Logger LOG = LoggerFactory.getLogger(SharedReader.class);

    /** Threads whose request has lasted, so that another reads since. */
    private static final AtomicInteger APART = new AtomicInteger();

    private final LentConnections connections;
    private final LoanWatchdog.Watch watch = LoanWatchdog.OF_THIS_JVM.over(this);
    private final AtomicBoolean running = new AtomicBoolean();

    /** The connection that the reading thread serves. Whoever takes it out has another thread read. */
    private final AtomicReference<@Nullable LentConnection> served = new AtomicReference<>();

    /** How many connections were served; for others as of when they saw the one that is. */
    private int count;

    // Of the watchdog.
    private int seen;
    private int looks;

    SharedReader(LentConnections connections) {
        this.connections = connections;
    }

    /** Whether connections may be lent: few requests last. */
    static boolean hasRoom() {
        return APART.get() < MOST_APART * COUNT;
    }

    /** Serves from now on, while there are connections; false where no thread can be started. */
    boolean begin() {
        if (running.get() || !running.compareAndSet(false, true) || startThread()) {
            return true;
        }
        running.set(false);
        return false;
    }

    /** The work of a reading thread: until another reads, or nothing is lent. */
    private void read() {
        Turn turn = new Turn();
        LentThread.beginLending(turn);
        LentConnections.Look look = connections.new Look();
        while (true) {
            LentConnection next = look.next();
            if (next == null ? hasEnded() : !turn.serve(next)) {
                return;
            }
        }
    }

    /** Whether nothing is lent, and no thread reads from now on. */
    private boolean hasEnded() {
        if (!connections.isEmpty()) {
            return false;
        }
        running.set(false);
        // One may have come in between, and have seen a thread that would look at it.
        return connections.isEmpty() || !running.compareAndSet(false, true);
    }

    private boolean startThread() {
        try {
            SupervisedThread.start("http-reader", this::read);
            return true;
        } catch (OutOfMemoryError e) {
            LOG.debug("no thread can be started", e);
            return false;
        }
    }

    /** What one thread serves, also when another reads since. For that thread. */
    private final class Turn implements Runnable {
        private @Nullable LentConnection connection;

        @Override
        public void run() {
            if (connection != null && !passOn(connection, false)) {
                LOG.warn("No thread can be started to read requests while one waits: others wait for it");
            }
        }

        /** Serves what has come of a connection; false where another thread reads since. */
        boolean serve(LentConnection next) {
            if (!hasRoom() || !next.mayServe()) {
                next.giveBack();
                return true;
            }
            connection = next;
            count++;
            served.set(next);
            watch.noteLoan();
            LentConnection.Served done = next.serve(SharedReader.this);
            if (!served.compareAndSet(next, null)) {
                APART.decrementAndGet();
                next.end();
                return false;
            }
            switch (done) {
                case ALL -> {
                    if (next.goOn()) {
                        connections.addReady(next);
                    }
                }
                case ALL_READ -> connections.addReady(next);
                case NOT_ALL -> next.giveBack();
            }
            return true;
        }
    }

    /**
     * The thread that serves {@code apart} is about to wait, or has served it for long: another reads on. {@code lasts}
     * unless it waits for an instance that others hold. False where no thread can be started. For any thread.
     */
    boolean passOn(LentConnection apart, boolean lasts) {
        if (!served.compareAndSet(apart, null)) {
            return true;
        }
        APART.incrementAndGet();
        apart.leave(lasts);
        if (startThread()) {
            return true;
        }
        served.set(apart);
        APART.decrementAndGet();
        return false;
    }

    @Override
    public boolean isLending() {
        return served.get() != null;
    }

    @Override
    public void look() {
        LentConnection now = served.get();
        looks = count == seen ? looks + 1 : 1;
        seen = count;
        if (now != null && looks >= LOOKS) {
            passOn(now, true); // at the next look again, where no thread can be started
        }
    }
}
