// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.threads.SupervisedThread;
import gatun.runtime.placement.LentThread;
import gatun.runtime.placement.LoanWatchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the next requests of many {@linkplain LentConnection connections}, and serves them on a platform thread of
 * its own: a request is read, answered, and its response written, without another thread being woken up. One thread at a
 * time does that. Before it waits for anything but requests, it has another go on, and the {@link LoanWatchdog} does so
 * where one request lasts. The thread exists while connections are lent. Safe for any thread.
 */
final class SharedReader implements LoanWatchdog.Lender {
    /** A request that is seen at so many looks one after the other has lasted 7.5 to 15 ms. */
    private static final int LOOKS = 2;

    /** How many readers there are: as many as may run at the same time, by logical processors as carriers are counted. */
    private static final int COUNT = Runtime.getRuntime().availableProcessors();

    /** The most threads that serve a request which another reads on for, over all readers, for each of them. */
    private static final int MOST_APART = 4;

    private static final long IDLE_MILLIS = 1000;

    private static final List<SharedReader> ALL = new ArrayList<>();
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** Threads whose request has lasted, so that another reads since. */
    private static final AtomicInteger APART = new AtomicInteger();

    static {
        for (int i = 0; i < COUNT; i++) {
            ALL.add(new SharedReader());
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(SharedReader.class);

    private final LoanWatchdog.Watch watch = LoanWatchdog.OF_THIS_JVM.over(this);
    private final Queue<LentConnection> arrived = new ConcurrentLinkedQueue<>();
    private final Queue<LentConnection> recalled = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean running = new AtomicBoolean();

    /** The connection that the reading thread serves. Whoever takes it out has another thread read. */
    private final AtomicReference<@Nullable LentConnection> served = new AtomicReference<>();

    /** Null before the first thread. */
    private volatile @Nullable Selector selector;

    // Of the reading thread.
    private final Deque<LentConnection> ready = new ArrayDeque<>();
    private final List<LentConnection> leaving = new ArrayList<>();

    // Of the watchdog.
    private long seen;
    private int looks;

    private SharedReader() {}

    /** Whether connections may be lent: few requests last. */
    static boolean hasRoom() {
        return APART.get() < MOST_APART * COUNT;
    }

    /** The reader for one more connection. */
    static SharedReader next() {
        return ALL.get(Math.floorMod(NEXT.getAndIncrement(), COUNT));
    }

    /** Waits for requests of {@code connection} from now on, until it gives it back. */
    void add(LentConnection connection) {
        arrived.add(connection);
        if (running.compareAndSet(false, true)) {
            startThread();
        } else {
            wakeUp();
        }
    }

    /** Gives a connection back soon. */
    void recall(LentConnection connection) {
        recalled.add(connection);
        wakeUp();
    }

    private void wakeUp() {
        Selector waiting = selector;
        if (waiting != null) {
            waiting.wakeup(); // else the thread has not begun, and looks at the queues first
        }
    }

    private void startThread() {
        SupervisedThread.start("http-reader", this::read);
    }

    /** The work of a reading thread: until another reads, or nothing is lent. */
    private void read() {
        Turn turn = new Turn();
        LentThread.beginLending(turn);
        try {
            Selector own = open();
            while (true) {
                follow(own);
                LentConnection next = ready.poll();
                if (next != null) {
                    turn.connection = next;
                    if (!serve(next)) {
                        return;
                    }
                } else if (!leaving.isEmpty()) {
                    own.selectNow(this::found);
                    leaving.forEach(LentConnection::leave);
                    leaving.clear();
                } else if (own.select(this::found, IDLE_MILLIS) == 0 && hasEnded(own)) {
                    return;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("requests cannot be waited for", e);
        }
    }

    /** What one thread serves, also when another reads since. For that thread. */
    private final class Turn implements Runnable {
        private @Nullable LentConnection connection;

        @Override
        public void run() {
            if (connection != null && !passOn(connection)) {
                LOG.warn("No thread can be started to read requests while one waits: others wait for it");
            }
        }
    }

    private Selector open() throws IOException {
        Selector known = selector;
        if (known == null) {
            known = Selector.open();
            selector = known;
        }
        return known;
    }

    private void found(SelectionKey key) {
        ready.add((LentConnection) key.attachment());
    }

    /** Whether nothing is lent, and no thread reads from now on. */
    private boolean hasEnded(Selector own) {
        if (!own.keys().isEmpty() || !arrived.isEmpty() || !recalled.isEmpty()) {
            return false;
        }
        running.set(false);
        // One may have come in between, and have seen a thread that would look at it.
        return arrived.isEmpty() || !running.compareAndSet(false, true);
    }

    /** Takes connections in and lets others go. */
    private void follow(Selector own) {
        LentConnection next;
        while ((next = recalled.poll()) != null) {
            letGo(next);
        }
        while ((next = arrived.poll()) != null) {
            if (!next.register(own)) {
                letGo(next);
            }
        }
    }

    private void letGo(LentConnection connection) {
        if (connection.cancel()) {
            leaving.add(connection);
        }
    }

    /** Serves what has come of a connection; false where another thread reads since. */
    private boolean serve(LentConnection connection) {
        if (!hasRoom()) {
            letGo(connection);
            return true;
        }
        if (!connection.begin()) {
            return true;
        }
        served.set(connection);
        watch.noteLoan();
        boolean stays = connection.serve();
        if (!served.compareAndSet(connection, null)) {
            APART.decrementAndGet();
            connection.end();
            return false;
        }
        if (stays) {
            connection.goOn();
        } else {
            connection.end();
            letGo(connection);
        }
        return true;
    }

    /**
     * The thread that serves {@code lasting} is about to wait, or has served it for long: another reads on, unless one does
     * already. For any thread.
     *
     * @return false where no thread can be started, and the serving one goes on to read
     */
    boolean passOn(LentConnection lasting) {
        if (!served.compareAndSet(lasting, null)) {
            return true;
        }
        APART.incrementAndGet();
        lasting.lasts();
        recalled.add(lasting);
        try {
            startThread();
            return true;
        } catch (OutOfMemoryError e) {
            LOG.debug("no thread can be started", e);
            served.set(lasting);
            APART.decrementAndGet();
            return false;
        }
    }

    @Override
    public boolean isLending() {
        return served.get() != null;
    }

    @Override
    public void look() {
        LentConnection now = served.get();
        long serving = now == null ? 0 : now.serving();
        looks = serving == seen ? looks + 1 : 1;
        seen = serving;
        if (now != null && looks >= LOOKS) {
            passOn(now); // at the next look again, where no thread can be started
        }
    }
}
