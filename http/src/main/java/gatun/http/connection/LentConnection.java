// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.ChannelTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that its own thread lends to a {@link SharedReader} while it waits for requests. It comes back when
 * something is to be done that the reader does not do, when its channel is closed, and when its own thread is
 * interrupted. Each loan ends with two steps in any order: its request is served to the end, and the channel is out of
 * the reader's selector, so that it can be waited for as others are.
 */
final class LentConnection {
    private static final Logger LOG = LoggerFactory.getLogger(LentConnection.class);

    /** The selector looks at the channel. */
    private static final int WAITING = 0;

    /** A thread serves the connection, or will. */
    private static final int TAKEN = 1;

    /** As {@link #TAKEN}; more bytes have come, and the selector does not look until they are served. */
    private static final int TAKEN_MORE = 2;

    /** It was waiting when it left the selector, and is served no more. */
    private static final int GONE = 3;

    /** Serves what has come, on the reader's thread. */
    interface Service {
        /**
         * Answers what has come, without waiting for more.
         *
         * @return whether nothing is left to do, so that the next request may be waited for
         */
        boolean serve() throws IOException;
    }

    private final SharedReader reader;
    private final ChannelTransport transport;
    private final Service service;
    private final Runnable onClose = this::recall;
    private final Runnable beforeWaiting = this::leaveToWait;

    private volatile @Nullable Thread owner;

    /** A thread of the reader that serves a request and has to wait for the socket. */
    private volatile @Nullable Thread socketWaiter;

    private volatile boolean isServedToEnd;
    private volatile boolean hasLeft;
    private volatile boolean isLasting;
    private volatile boolean isCancelled;

    private final AtomicInteger state = new AtomicInteger();
    private volatile @Nullable SelectionKey key;

    /** The reader whose thread serves a request, which may be another one's. Of that thread. */
    private SharedReader servedBy;

    /** Of the thread that serves, and of the owner after the loan. */
    private @Nullable Throwable failure;

    /** A connection that is not lent. */
    LentConnection(SharedReader reader, ChannelTransport transport, Service service) {
        this.reader = reader;
        this.servedBy = reader;
        this.transport = transport;
        this.service = service;
    }

    /**
     * Lends the connection until it comes back. For its own thread.
     *
     * @return false where a request lasted, which is served
     * @throws IOException when serving has thrown it; likewise any other exception
     */
    boolean lend() throws IOException {
        isServedToEnd = false;
        hasLeft = false;
        isLasting = false;
        key = null;
        isCancelled = false;
        state.set(WAITING);
        failure = null;
        owner = Thread.currentThread();
        transport.beginLoan(onClose, beforeWaiting);
        reader.add(this);
        boolean interrupted = false;
        while (!(isServedToEnd && hasLeft)) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                transport.close();
            }
        }
        transport.endLoan();
        owner = null;
        waitAsOthers();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throwFailure();
        return !isLasting;
    }

    private void throwFailure() throws IOException {
        switch (failure) {
            case null -> {}
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("serving may not throw this", t);
        }
    }

    /** The channel is closed: nobody would find it ready any more. Any thread. */
    private void recall() {
        reader.recall(this);
    }

    /** The request at hand has lasted, and another thread reads. Any thread. */
    void lasts() {
        isLasting = true;
        reader.recall(this);
    }

    // Of the thread that selects.

    /** Has {@code selector} look at the channel; false where that cannot be. */
    boolean register(Selector selector) {
        if (isCancelled) {
            return true; // it was recalled before
        }
        try {
            key = transport.channel().configureBlocking(false).register(selector, SelectionKey.OP_READ, this);
            return true;
        } catch (IOException | IllegalStateException e) { // of a channel that is not as it should be, too
            LOG.trace("a connection cannot be waited for", e);
            return false;
        }
    }

    /**
     * The selector has found the channel ready. Returns whether the connection is to be served, which it is not yet.
     */
    boolean take() {
        if (state.compareAndSet(WAITING, TAKEN)) {
            return true;
        }
        SelectionKey registered = key;
        if (registered == null || state.get() != TAKEN) {
            return false;
        }
        try {
            // What is there would be found again and again until it is read. The state tells of it afterwards, so that
            // whoever serves has the selector look again after this.
            registered.interestOps(0);
            if (!state.compareAndSet(TAKEN, TAKEN_MORE)) {
                registered.interestOps(SelectionKey.OP_READ);
            }
        } catch (CancelledKeyException e) {
            LOG.trace("a connection was closed while it is served", e);
        }
        return false;
    }

    /** Takes the channel out of the selector with its next look; false where that was done before. */
    boolean cancel() {
        if (isCancelled) {
            return false;
        }
        isCancelled = true;
        SelectionKey registered = key;
        if (registered != null) {
            registered.cancel();
        }
        return true;
    }

    /** The channel is out of the selector. */
    void leave() {
        if (state.compareAndSet(WAITING, GONE)) {
            isServedToEnd = true;
        }
        hasLeft = true;
        LockSupport.unpark(owner);
        LockSupport.unpark(socketWaiter);
    }

    // Of the thread that serves.

    /** Whether it may be served; it is not once it has been recalled. */
    boolean mayServe() {
        return !isCancelled;
    }

    /**
     * As {@link Service#serve}; what that throws is for the connection's own thread.
     *
     * @param server the reader whose thread this is
     */
    boolean serve(SharedReader server) {
        servedBy = server;
        try {
            return service.serve();
        } catch (Throwable t) {
            failure = t;
            return false;
        }
    }

    /** What had come is answered, and more is waited for. */
    void goOn() {
        if (state.compareAndSet(TAKEN, WAITING)) {
            if (isCancelled && state.compareAndSet(WAITING, GONE)) {
                end();
            }
            return;
        }
        state.set(TAKEN);
        try {
            SelectionKey registered = key;
            if (registered != null) {
                registered.interestOps(SelectionKey.OP_READ);
            }
        } catch (CancelledKeyException e) {
            LOG.trace("a connection was recalled", e);
        }
        reader.addReady(this);
    }

    /** The connection is served no more, and given back. */
    void giveBack() {
        end();
        reader.recall(this);
    }

    /** The connection is served no more. */
    void end() {
        isServedToEnd = true;
        LockSupport.unpark(owner);
    }

    /** Lets another thread read, and waits until the socket can be waited for. */
    private void leaveToWait() {
        if (!servedBy.passOn(this)) {
            throw new UncheckedIOException(new IOException("no thread can be started to wait for the client"));
        }
        socketWaiter = Thread.currentThread();
        while (!hasLeft) {
            LockSupport.park(this);
        }
        socketWaiter = null;
        waitAsOthers();
    }

    /** Makes the channel wait again, now that no selector has it. */
    private void waitAsOthers() {
        try {
            transport.channel().configureBlocking(true);
        } catch (IOException e) {
            LOG.trace("a connection is closed already", e);
        }
    }
}
