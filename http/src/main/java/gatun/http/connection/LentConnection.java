// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.ChannelTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicLong;
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

    /** Tells requests of all connections apart. */
    private static final AtomicLong SERVED = new AtomicLong();

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

    /** The request at hand, among all; 0 for none. Written by the serving thread. */
    private volatile long serving;

    private volatile boolean isLasting;

    // Of the thread that reads.
    private @Nullable SelectionKey key;
    private boolean isCancelled;
    private boolean isServed;

    /** Of the thread that serves, and of the owner after the loan. */
    private @Nullable Throwable failure;

    /** A connection that is not lent. */
    LentConnection(SharedReader reader, ChannelTransport transport, Service service) {
        this.reader = reader;
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
        isServed = false;
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

    /** The request at hand, among all; 0 for none. Any thread. */
    long serving() {
        return serving;
    }

    /** The request at hand has lasted, and another thread reads. Any thread. */
    void lasts() {
        isLasting = true;
    }

    // Of the thread that reads.

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

    /** Whether it may be served now; if so it is. */
    boolean begin() {
        if (isServed || isCancelled) {
            return false;
        }
        isServed = true;
        return true;
    }

    /** The request is answered, and the next one is waited for. */
    void goOn() {
        isServed = false;
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
        if (!isServed) {
            isServedToEnd = true;
        }
        hasLeft = true;
        LockSupport.unpark(owner);
        LockSupport.unpark(socketWaiter);
    }

    // Of the thread that serves, which reads as well until it passes that on.

    /** As {@link Service#serve}; what that throws is for the connection's own thread. */
    boolean serve() {
        serving = SERVED.incrementAndGet();
        try {
            return service.serve();
        } catch (Throwable t) {
            failure = t;
            return false;
        } finally {
            serving = 0;
        }
    }

    /** The connection is served no more. */
    void end() {
        isServedToEnd = true;
        LockSupport.unpark(owner);
    }

    /** Lets another thread read, and waits until the socket can be waited for. */
    private void leaveToWait() {
        if (!reader.passOn(this)) {
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
