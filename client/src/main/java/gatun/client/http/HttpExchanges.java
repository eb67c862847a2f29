// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.MalformedResponseException;
import gatun.client.UnreachableException;
import gatun.client.calls.ConnectFailure;
import gatun.client.calls.Deadline;
import gatun.client.http.HttpConnection.ForeignAnswerException;
import gatun.client.http.OutgoingRequest.PlainRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Makes requests to one server over HTTP/1.1, on connections that are kept open and used again. Owns them. Safe for any
 * thread; each call occupies its thread until it is answered. An interrupt ends the call, and its connection.
 *
 * <p>A connection that was idle may have been closed by the server meanwhile. A request that fails on such a one before
 * any byte of a response came is made again on a fresh one, if the server may do it twice, or cannot have got all of
 * it. Before any other request an idle connection is looked at first, and not used when it was closed.
 */
public final class HttpExchanges implements AutoCloseable {
    private final ClientOptions options;
    private final String address;
    private final Connector connector;
    private final RequestHeads heads;
    private final IdleConnections idle = new IdleConnections();
    /** All channels, idle or not. */
    private final Set<WatchedChannel> channels = ConcurrentHashMap.newKeySet();

    private final DeadlineWatch deadlines;
    private volatile boolean closed;

    /**
     * Exchanges with the server of these options, with its headers and its deadline; retries and compression mean
     * nothing here. Connects with the first request.
     *
     * @throws IllegalArgumentException for headers that HTTP cannot carry, or files of TLS that are missing or wrong
     */
    public HttpExchanges(ClientOptions options) {
        this.options = options;
        this.address = options.server().url();
        this.connector = new Connector(options);
        this.heads = new RequestHeads(options);
        this.deadlines = new DeadlineWatch(channels, "gatun-client-deadlines " + address);
    }

    /**
     * Makes any request and reads the whole response, whatever its status. The server may get it twice, when it closes
     * the connection without a response.
     *
     * @param method any whose responses have bodies
     * @param path with its slash, as it goes over the wire
     * @param headers besides those of the options
     * @param body its pieces; their memory is free again when this returns
     * @throws gatun.client.ClientException when there is no response
     * @throws IllegalStateException when this was closed
     */
    public HttpResult exchange(String method, String path, Map<String, String> headers, MemorySegment... body) {
        if (method.equals("HEAD") || method.equals("CONNECT")) {
            throw new IllegalArgumentException(
                    "the method " + method + ", whose answers have no bodies: expected another, such as GET or POST");
        }
        List<MemorySegment> pieces = List.of(body);
        PlainRequest request =
                new PlainRequest(method + " " + path, true, heads.of(method, path, headers, pieces), pieces);
        return exchange(request, HttpResult::read, Deadline.of(options.deadline()));
    }

    <T> T exchange(OutgoingRequest request, ResponseReader<T> reader, Deadline deadline) {
        HttpConnection connection = takeIdle(request.isRepeatable());
        if (connection != null) {
            connection.channel().begin(deadline);
            deadlines.watch(deadline);
            try {
                return exchangeOn(connection, request, reader);
            } catch (IOException e) {
                boolean mayBeStale = !connection.wasAnswered() && (request.isRepeatable() || !connection.wasSent());
                if (!mayBeStale || isGivenUp(connection.channel(), deadline)) {
                    throw broken(connection.channel(), connection.wasSent(), request, deadline, e);
                }
            } finally {
                release(connection);
            }
        }
        HttpConnection fresh = connect(request, deadline);
        try {
            return exchangeOn(fresh, request, reader);
        } catch (IOException e) {
            throw broken(fresh.channel(), fresh.wasSent(), request, deadline, e);
        } finally {
            release(fresh);
        }
    }

    RequestHeads heads() {
        return heads;
    }

    String address() {
        return address;
    }

    /** Closes all connections; requests that are under way fail. A second call does nothing. */
    @Override
    public void close() {
        closed = true;
        idle.close();
        for (WatchedChannel channel : channels) {
            channel.close();
        }
        deadlines.close();
    }

    /** Throws {@link IllegalStateException} when this was closed. */
    void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the client of " + address + " was closed: make another one");
        }
    }

    private <T> T exchangeOn(HttpConnection connection, OutgoingRequest request, ResponseReader<T> reader)
            throws IOException {
        try {
            connection.exchange(request);
            return reader.read(connection);
        } catch (MalformedResponseException e) {
            throw new MalformedResponseException(
                    address + " answered " + request.what() + " with what is no answer: " + e.getMessage(), e);
        }
    }

    private @Nullable HttpConnection takeIdle(boolean repeatable) {
        requireOpen();
        HttpConnection connection = idle.poll();
        while (connection != null && !repeatable && !connection.channel().isQuiet()) {
            drop(connection.channel());
            connection = idle.poll();
        }
        return connection;
    }

    private HttpConnection connect(OutgoingRequest request, Deadline deadline) {
        IOException failure = new IOException("its name has no address");
        try {
            for (SocketAddress candidate : connector.addresses()) {
                WatchedChannel channel = open(deadline);
                boolean connected = false;
                try {
                    HttpConnection connection = connector.connect(channel, candidate);
                    connected = true;
                    return connection;
                } catch (IOException e) {
                    if (isGivenUp(channel, deadline)) {
                        throw broken(channel, false, request, deadline, e);
                    }
                    failure = e;
                } finally {
                    if (!connected) {
                        drop(channel);
                    }
                }
            }
        } catch (IOException | UnsupportedAddressTypeException e) {
            throw unreachable(options, e);
        }
        throw unreachable(options, failure);
    }

    private WatchedChannel open(Deadline deadline) throws IOException {
        SocketChannel channel = connector.channel();
        WatchedChannel watched = new WatchedChannel(channel);
        watched.begin(deadline);
        channels.add(watched);
        if (closed) {
            // Who closed may not have seen it.
            drop(watched);
            requireOpen();
        }
        deadlines.watch(deadline);
        return watched;
    }

    private void release(HttpConnection connection) {
        long now = System.nanoTime();
        connection.becomeIdle(now);
        if (!connection.channel().end() || !connection.isReusable() || !idle.offer(connection)) {
            drop(connection.channel());
        }
        idle.pollOld(now).ifPresent(old -> drop(old.channel()));
    }

    private void drop(WatchedChannel channel) {
        channel.close();
        channels.remove(channel);
    }

    /** Whether a call failed because this side gave it up. */
    private boolean isGivenUp(WatchedChannel channel, Deadline deadline) {
        return closed
                || channel.hasExpired()
                || deadline.hasPassed()
                || Thread.currentThread().isInterrupted();
    }

    private RuntimeException broken(
            WatchedChannel channel, boolean sent, OutgoingRequest request, Deadline deadline, IOException cause) {
        if (closed) {
            return new IllegalStateException(
                    "the client of " + address + " was closed while " + request.what() + " was not answered", cause);
        }
        if (channel.hasExpired() || deadline.hasPassed()) {
            return deadline.exceeded(request.what(), address);
        }
        if (Thread.currentThread().isInterrupted()) {
            return new UnreachableException(
                    "the thread was interrupted before " + address + " answered " + request.what(), cause, sent);
        }
        if (cause instanceof ForeignAnswerException foreign) {
            return new UnreachableException(
                    "cannot ask " + address + ": " + foreign.reason(options.server()), cause, false);
        }
        return new UnreachableException(
                "the connection to " + address + " broke before " + request.what() + " was answered: " + reason(cause),
                cause,
                sent);
    }

    /** The failure of a connection that was not established. */
    static UnreachableException unreachable(ClientOptions options, Exception cause) {
        String why = ConnectFailure.reason(options.server(), cause)
                .orElseGet(() -> reason(cause) + "; is the server running there?");
        return new UnreachableException("cannot connect to " + options.server() + ": " + why, cause, false);
    }

    private static String reason(Exception cause) {
        return Optional.ofNullable(cause.getMessage())
                .filter(text -> !text.isBlank())
                .orElse(cause.getClass().getSimpleName());
    }

    /**
     * Closes the channels of calls that take too long. Owns one thread, which sleeps until the earliest deadline and is
     * woken only for an earlier one, so that calls make no timers. Thread-safe.
     */
    static final class DeadlineWatch {
        private static final long NEVER = Long.MAX_VALUE;

        private final Set<WatchedChannel> channels;
        private final String name;
        /** Guards the start of {@link #thread}. */
        private final ReentrantLock lock = new ReentrantLock();

        private volatile @Nullable Thread thread;
        private volatile boolean closed;
        /** Whether every call has to wake the thread: it looks at the channels, or sleeps until it is called. */
        private volatile boolean sleepsUntilCalled = true;
        /** Until when it sleeps otherwise. */
        private volatile long wakesAt;

        DeadlineWatch(Set<WatchedChannel> channels, String name) {
            this.channels = channels;
            this.name = name;
        }

        void watch(Deadline deadline) {
            if (!deadline.isSet()) {
                return;
            }
            Thread running = thread;
            if (running == null) {
                start();
            } else if (sleepsUntilCalled || deadline.at() - wakesAt < 0) {
                LockSupport.unpark(running);
            }
        }

        void close() {
            closed = true;
            LockSupport.unpark(thread);
        }

        private void start() {
            lock.lock();
            try {
                if (thread == null && !closed) {
                    // Its first look at the channels comes after the call began.
                    thread = Thread.ofPlatform().daemon().name(name).start(this::run);
                } else {
                    LockSupport.unpark(thread);
                }
            } finally {
                lock.unlock();
            }
        }

        private void run() {
            while (!closed) {
                // From here until it sleeps, each call wakes it: one that this look misses is seen by the next.
                sleepsUntilCalled = true;
                long now = System.nanoTime();
                long soonest = NEVER;
                for (WatchedChannel channel : channels) {
                    channel.expire(now);
                    long due = channel.due();
                    if ((due & 1) != 0) {
                        soonest = Math.min(soonest, due - now);
                    }
                }
                if (soonest == NEVER) {
                    LockSupport.park(this);
                } else {
                    wakesAt = now + soonest;
                    sleepsUntilCalled = false;
                    LockSupport.parkNanos(this, Math.max(0, soonest));
                }
            }
        }
    }
}
