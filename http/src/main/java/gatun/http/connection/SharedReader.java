// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.threads.SupervisedThread;
import gatun.runtime.placement.LentThread;
import gatun.runtime.placement.LoanWatchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for the next requests of many {@linkplain LentConnection connections}, and serves them on a platform thread of
 * its own: a request is read, answered, and its response written, without another thread being woken up. One thread at a
 * time does that, and another reader's serves for it while it is stalled, as by the operating system, which has given its
 * processor to others. Before the thread waits for anything but requests, it has another go on, and the
 * {@link LoanWatchdog} does so where one request lasts. The thread exists while connections are lent. Safe for any thread.
 */
final class SharedReader implements LoanWatchdog.Lender {
    /** A request that is seen at so many looks one after the other has lasted 7.5 to 15 ms. */
    private static final int LOOKS = 2;

    /** How many readers there are: as many as may run at the same time, by logical processors as carriers are counted. */
    private static final int COUNT = Runtime.getRuntime().availableProcessors();

    /** A reader that serves one request while its neighbour serves more than so many is stalled. */
    private static final int STALLED = 2;

    /** The most threads that serve a request apart, over all readers, for each of them. */
    private static final int MOST_APART = 4;

    private static final long IDLE_MILLIS = 1000;

    private static final List<SharedReader> ALL = new ArrayList<>();
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** Threads whose request has lasted, so that another reads since. */
    private static final AtomicInteger APART = new AtomicInteger();

    static {
        for (int i = 0; i < COUNT; i++) {
            ALL.add(new SharedReader(i));
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(SharedReader.class);

    private final int index;
    private final LoanWatchdog.Watch watch = LoanWatchdog.OF_THIS_JVM.over(this);
    private final Queue<LentConnection> arrived = new ConcurrentLinkedQueue<>();
    private final Queue<LentConnection> recalled = new ConcurrentLinkedQueue<>();

    /** Connections to be served. */
    private final Queue<LentConnection> ready = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean running = new AtomicBoolean();

    /** The connection that the reading thread serves. Whoever takes it out has another thread read. */
    private final AtomicReference<@Nullable LentConnection> served = new AtomicReference<>();

    /** How many connections were served; for others as of when they saw the one that is. */
    private int count;

    /** Held by the thread that finds out what is ready, or waits for that. */
    private final ReentrantLock selecting = new ReentrantLock();

    /** Whether the thread has nothing to do; also while there is none. */
    private volatile boolean isWaiting = true;

    /** Null before the first thread. */
    private volatile @Nullable Selector selector;

    // Of the reading thread.
    private int neighboursCount;
    private int servedMeanwhile;

    // Of the thread that selects.
    private final List<LentConnection> leaving = new ArrayList<>();

    // Of the watchdog.
    private int seen;
    private int looks;

    private SharedReader(int index) {
        this.index = index;
    }

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
        if (!running.compareAndSet(false, true)) {
            wakeSelector();
        } else if (!startThread()) {
            running.set(false);
            if (arrived.remove(connection)) {
                throw new IllegalStateException("no thread can be started to read requests");
            }
        }
    }

    /** Gives a connection back soon. */
    void recall(LentConnection connection) {
        recalled.add(connection);
        wakeSelector();
    }

    /** Has the thread that selects look at what has changed. */
    private void wakeSelector() {
        Selector waiting = selector;
        if (waiting != null && selecting.isLocked()) {
            waiting.wakeup(); // else the next thread that selects looks first
        }
    }

    /** The work of a reading thread: until another reads, or nothing is lent. */
    private void read() {
        Turn turn = new Turn();
        LentThread.beginLending(turn);
        SharedReader neighbour = ALL.get((index + 1) % COUNT);
        try {
            while (true) {
                boolean isHelping = hasStalled(neighbour);
                LentConnection next = ready.poll();
                if (next == null) {
                    boolean isBusy = isHelping && neighbour.selectNow();
                    if (!select(isBusy)) {
                        return;
                    }
                } else if (!turn.serve(next)) {
                    return;
                }
                LentConnection others = isHelping ? neighbour.ready.poll() : null;
                if (others != null && !turn.serve(others)) {
                    return;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("requests cannot be waited for", e);
        }
    }

    /** Whether the neighbour has work and has not moved while this one has: sooner than the watchdog. Of the reader. */
    private boolean hasStalled(SharedReader neighbour) {
        if (neighbour != this && !neighbour.isWaiting && neighbour.count == neighboursCount) {
            servedMeanwhile++;
        } else {
            servedMeanwhile = 0;
            neighboursCount = neighbour.count;
        }
        return servedMeanwhile > STALLED;
    }

    /** Finds out what is ready, unless another thread does that; false where nothing is. Any reader's thread. */
    private boolean selectNow() throws IOException {
        Selector known = selector;
        if (known == null || !selecting.tryLock()) {
            return false;
        }
        try {
            known.selectNow(this::found);
        } finally {
            selecting.unlock();
        }
        return !ready.isEmpty();
    }

    /**
     * Finds out what is ready.
     *
     * @param isBusy whether there is something else to do, so that nothing is waited for
     * @return false when nothing is lent, and no thread reads from now on
     */
    private boolean select(boolean isBusy) throws IOException {
        selecting.lock();
        try {
            Selector own = open();
            follow(own);
            if (isBusy || !leaving.isEmpty()) {
                own.selectNow(this::found);
                leaving.forEach(LentConnection::leave);
                leaving.clear();
                return true;
            }
            isWaiting = true;
            if (own.select(this::found, IDLE_MILLIS) == 0 && hasEnded(own)) {
                return false;
            }
            isWaiting = false;
            return true;
        } finally {
            selecting.unlock();
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
        LentConnection connection = (LentConnection) key.attachment();
        if (connection.take()) {
            ready.add(connection);
        }
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

    /** Serves {@code connection} again: more has come. Any thread. */
    void addReady(LentConnection connection) {
        ready.add(connection);
        wakeSelector();
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
            if (connection != null && !passOn(connection)) {
                LOG.warn("No thread can be started to read requests while one waits: others wait for it");
            }
        }

        /** Serves what has come of a connection, of this reader or another; false where another thread reads since. */
        boolean serve(LentConnection next) {
            if (!hasRoom() || !next.mayServe()) {
                next.giveBack();
                return true;
            }
            connection = next;
            count++;
            served.set(next);
            watch.noteLoan();
            boolean stays = next.serve(SharedReader.this);
            if (!served.compareAndSet(next, null)) {
                APART.decrementAndGet();
                next.end();
                return false;
            }
            if (stays) {
                next.goOn();
            } else {
                next.giveBack();
            }
            return true;
        }
    }

    /**
     * The thread that serves {@code lasting} is about to wait, or has served it for long: another reads on, unless one
     * does already. For any thread. Returns false where no thread can be started, and the serving one goes on to read.
     */
    boolean passOn(LentConnection lasting) {
        if (!served.compareAndSet(lasting, null)) {
            return true;
        }
        APART.incrementAndGet();
        lasting.lasts();
        if (startThread()) {
            return true;
        }
        served.set(lasting);
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
            passOn(now); // at the next look again, where no thread can be started
        }
    }
}
