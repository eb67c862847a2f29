// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.listener.ChannelTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A connection that its thread lends to {@linkplain SharedReader readers} while it waits for requests. It comes back
 * for what readers do not do, or when its channel is closed or its thread interrupted: once the request is served.
 */
final class LentConnection {
    /** Readers look for what comes. */
    private static final int WAITING = 0;

    /** A thread serves the connection, or will. */
    private static final int TAKEN = 1;

    /** As {@link #TAKEN}; more has come since, or has not been read. */
    private static final int TAKEN_MORE = 2;

    /** It was waiting when it left, and is served no more. */
    private static final int GONE = 3;

    /** How much of what has come is answered. */
    enum Served {
        /** All of it: the next request may be waited for. */
        ALL,
        /** All that has been read, but more may be there. */
        ALL_READ,
        /** Something is left that readers do not do. */
        NOT_ALL
    }

    /** Serves what has come, on a reader's thread. */
    interface Service {
        /** Answers what has come, without waiting for more. */
        Served serve() throws IOException;
    }

    private final LentConnections connections;
    private final ChannelTransport transport;
    private final Service service;
    private final Runnable onClose = this::leave;
    private final Runnable beforeWaiting = this::leaveToWait;
    private final AtomicInteger state = new AtomicInteger();

    private volatile @Nullable Thread owner;
    private volatile boolean isServedToEnd;
    private volatile boolean hasLeft;
    private volatile boolean isLasting;

    /** The reader whose thread serves a request. Of that thread. */
    private @Nullable SharedReader servedBy;

    /** Of the thread that serves, and of the owner after the loan. */
    private @Nullable Throwable failure;

    LentConnection(LentConnections connections, ChannelTransport transport, Service service) {
        this.connections = connections;
        this.transport = transport;
        this.service = service;
    }

    /** Lends the connection until it comes back; false if a request lasted or it cannot be lent. Throws as serving. */
    boolean lend() throws IOException {
        isServedToEnd = false;
        hasLeft = false;
        isLasting = false;
        failure = null;
        owner = Thread.currentThread();
        int descriptor = transport.beginLoan(onClose, beforeWaiting);
        if (descriptor < 0) {
            owner = null;
            return false;
        }
        // Only now, since a reader may have found an earlier loan's bytes by the same descriptor, and serves at once.
        state.set(WAITING);
        boolean interrupted = false;
        boolean isLent = connections.enter(descriptor, this) && transport.enterPoll(connections.poll());
        if (!isLent) {
            leave();
        }
        while (!(isServedToEnd && hasLeft)) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                transport.close();
            }
        }
        connections.exit(descriptor, this);
        transport.endLoan();
        owner = null;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throwFailure();
        return isLent && !isLasting;
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

    /** Readers look for it no more. The channel may be closed. Any thread. */
    private void leave() {
        transport.leavePoll();
        hasLeft = true;
        if (state.compareAndSet(WAITING, GONE)) {
            isServedToEnd = true;
        }
        LockSupport.unpark(owner);
    }

    /** Has another thread read. {@code lasts}: the loan is to be earned anew; not if it waits for an instance. */
    void leave(boolean lasts) {
        isLasting = lasts;
        leave();
    }

    /** Something has come, with nothing after it if {@code hasEnded}; whether the caller is to serve it. Any thread. */
    boolean take(boolean hasEnded) {
        while (true) {
            int now = state.get();
            switch (now) {
                case WAITING -> {
                    if (state.compareAndSet(now, hasEnded ? TAKEN_MORE : TAKEN)) {
                        return true;
                    }
                }
                case TAKEN -> {
                    if (state.compareAndSet(now, TAKEN_MORE)) {
                        return false;
                    }
                }
                default -> {
                    return false;
                }
            }
        }
    }

    // Of the thread that serves.

    /** Whether it may be served; it is not once it has left. */
    boolean mayServe() {
        return !hasLeft;
    }

    /** As {@link Service#serve}, on the thread of {@code server}; what that throws is for the connection's own. */
    Served serve(SharedReader server) {
        servedBy = server;
        try {
            return service.serve();
        } catch (Throwable t) {
            failure = t;
            return Served.NOT_ALL;
        }
    }

    /** What had come is answered; whether more has come meanwhile, so that the connection is to be served again. */
    boolean goOn() {
        if (!state.compareAndSet(TAKEN, WAITING)) {
            state.set(TAKEN);
            return true;
        }
        if (hasLeft && state.compareAndSet(WAITING, GONE)) {
            end();
        }
        return false;
    }

    void giveBack() {
        end();
        leave();
    }

    void end() {
        isServedToEnd = true;
        LockSupport.unpark(owner);
    }

    /** Lets another thread read, and makes the channel wait by itself. */
    private void leaveToWait() {
        SharedReader server = servedBy;
        if (server == null || !server.passOn(this, true)) {
            throw new UncheckedIOException(new IOException("no thread can be started to wait for the client"));
        }
        transport.endLoan();
    }
}
