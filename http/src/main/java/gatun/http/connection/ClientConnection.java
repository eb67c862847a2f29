// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ClientPresence.ClientWait;
import gatun.http.connection.FastPathReader.HeaderMemoryBudget;
import gatun.http.connection.ResponseSender.ResponseOutput;
import gatun.http.connection.StopNotice.RequestActivity;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.ConnectionUse;
import gatun.listener.Transport.SocketTransport;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.limits.WorkBudgets.WorkBudget;
import gatun.runtime.placement.RunPlacement;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection, on which Helidon's own speaks HTTP/1.1; bodies and responses with tensors bypass Helidon,
 * between transport and native memory. Used by its own thread, or the one that it is {@linkplain LentConnection lent}
 * to, but for {@link #idleTime}, {@link #close} and {@link #look}, which any thread may call.
 */
public final class ClientConnection implements ServerConnection, ConnectionContext, InterruptableTask<Void> {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);

    /** Bytes of an unwanted body that are read before a connection is closed, so that the response arrives. */
    private static final long LINGERING_BYTES = 64L << 20;

    /** Up to this many bytes of a next request are read while the server drains, to see whether there is one. */
    private static final int READ_AHEAD = 4 * 1024;

    private final ConnectionContext context;
    private final ClientSocket socket;
    private final SocketTransport transport;
    private final ClientWait clientWait;
    private final HelidonDataReader bytes;
    private final ClientPresence presence;
    private final RequestActivity activity;
    private final DisconnectWatch watch;
    private final ResponseSender response;
    /** Helidon asks for it with each request, and would look it up each time. */
    private final PeerInfo remotePeer;

    private final PeerLocation location;

    /** Made when the first body is waited for. */
    private @Nullable ClientQuotaKey sender;

    private final WorkBudget budget;

    /** The work for what the client has not got a response to, in nanoseconds as {@link WorkBudgets} counts it. */
    private long unfinishedNanos;

    /** Closed when the connection ends; null for nothing. Set by the connection's thread, once. */
    private volatile @Nullable Hold attached;

    private final long sinceMillis = System.currentTimeMillis();

    private final RequestCount requests = new RequestCount();

    /** Whether the client sends no more, though a body is not whole. */
    private boolean endedWithinBody;

    private final LastRoute lastRoute = new LastRoute();
    private final FastPathReader.Handler handler;
    private final FastPathReader fastPath;
    private final ServerConnection http1;

    /** {@code budget} limits work that the client throws away; {@code http1Connections} make Helidon's connection. */
    ClientConnection(
            ConnectionContext context,
            ClientSocket socket,
            RequestActivity activity,
            WorkBudget budget,
            RunPlacement placement,
            DisconnectWatch watch,
            ClientWait clientWait,
            ServerConnectionSelector http1Connections,
            Function<ClientConnection, FastPathReader.Handler> handlers) {
        this.context = context;
        this.socket = socket;
        this.transport = socket.transport();
        this.clientWait = clientWait;
        this.watch = watch;
        this.presence = new ClientPresence(transport);
        this.activity = activity;
        this.remotePeer = context.remotePeer();
        this.budget = budget;
        this.location =
                PeerLocation.of(remotePeer.address(), context.localPeer().address());
        this.handler = handlers.apply(this);
        this.fastPath = new FastPathReader(
                transport, clientWait, presence, activity, handler, HeaderMemoryBudget.OF_PROCESS, placement);
        this.bytes =
                HelidonDataReader.of(context.dataReader(), fastPath, socket.reader(), presence, activity, clientWait);
        this.response = new ResponseSender(transport, clientWait, presence, bytes, this::hasMore);
        this.http1 = http1Connections.connection(this);
    }

    /** The head of a request has come: the client has done its part for now. */
    void beginRequest() {
        requests.begin();
        unfinishedNanos = WorkBudgets.CALL_NANOS + WorkBudgets.REQUEST_NANOS;
        clientWait.stopWaiting();
        response.begin();
    }

    /** The client has got the response to what it sent so far. */
    void finishWork() {
        if (unfinishedNanos > 0 && !endedWithinBody) {
            budget.finish(unfinishedNanos);
            unfinishedNanos = 0;
        }
    }

    LastRoute lastRoute() {
        return lastRoute;
    }

    WorkBudget budget() {
        return budget;
    }

    RequestCount requests() {
        return requests;
    }

    /** What it is used for now, requests that only look at the server left out. For any thread. */
    ConnectionUse use() {
        return new ConnectionUse(
                ConnectionUse.peer(remotePeer.address()),
                isSecure(),
                sinceMillis,
                requests.ofClients(),
                activity.isBusy() && !requests.isViewing() ? 1 : 0,
                transport.transferred().in(),
                transport.transferred().out());
    }

    /** Helidon has read a head. Throws {@link CloseConnectionException} when the connection was ended first. */
    void beginHelidonRequest() {
        activity.beginRequest();
    }

    /** A request that Helidon has read is answered, and its body is read to the end. */
    void endRequest() {
        fastPath.begin(bytes.takeBuffered());
        activity.endRequest();
    }

    /** Ends the connection where its client reads a response too slowly. For any thread, when others find no memory. */
    void endIfReadTooSlowly() {
        if (response.isReadTooSlowly()) {
            response.cutOff();
            socket.close();
        }
    }

    /**
     * Ends the connection after a response that said so: reads on for a while, unless the server stops, as a client
     * still sending when the socket closes may lose the response. Returns or throws a {@link CloseConnectionException}.
     */
    public CloseConnectionException linger() {
        try {
            transport.shutdownOutput();
            clientWait.startWaiting(); // once, for all bytes: a slow client does not extend it
            if (activity.mayLinger()) {
                socket.discard(LINGERING_BYTES);
            }
        } catch (IOException e) {
            LOG.trace("the client was faster", e);
        }
        return endedWithinBody
                ? new ClientErrorException(ClientError.DISCONNECTED, "the client ended within a body")
                : new CloseConnectionException("the answer said so");
    }

    /**
     * Waits for {@code answer}; {@code onGone} is run on another thread, perhaps late, when the client leaves. Throws
     * {@link CloseConnectionException} when it is gone and there is no response.
     */
    <T> T whileClientWaits(Runnable onGone, Supplier<T> answer) {
        presence.startWaiting(onGone, hasMore());
        watch.wakeUp();
        try {
            return answer.get();
        } catch (GatunException e) {
            presence.stopWaiting();
            if (presence.isGone()) {
                throw new ClientErrorException(ClientError.DISCONNECTED, "the client left while its request waited", e);
            }
            throw e;
        } finally {
            presence.stopWaiting();
        }
    }

    /** Has {@code hold} closed when the connection ends; false when there is one already. */
    boolean attach(Hold hold) {
        if (attached != null) {
            return false;
        }
        attached = hold;
        return true;
    }

    PeerLocation location() {
        return location;
    }

    ResponseSender response() {
        return response;
    }

    /** Whether the client has sent more than the current request. */
    private boolean hasMore() {
        return fastPath.hasMore() || bytes.buffered(1) > 0;
    }

    /** Whether the response ends the connection: the server drains and the client has sent nothing more. */
    boolean isLast() {
        return activity.draining()
                && (activity.mustBeLast() || !(hasMore() || presence.hasSentMore(ByteBuffer.allocate(READ_AHEAD))));
    }

    ClientPresence.Look look(ByteBuffer scratch) {
        return presence.look(scratch);
    }

    boolean isWaitedFor() {
        return presence.isWaitedFor();
    }

    /** How many of at most {@code limit} bytes have come and not been used. */
    long buffered(long limit) {
        return Math.min(limit, fastPath.buffered() + bytes.buffered(limit));
    }

    /**
     * Fills {@code byteSize} bytes from the socket; {@code took} hears of each part. False if the client ends first.
     */
    boolean fill(MemorySegment target, long offset, long byteSize, LongConsumer took) {
        long done = fastPath.moveTo(target, offset, byteSize);
        took.accept(done);
        unfinishedNanos += WorkBudgets.ofBytes(done);
        try {
            while (done < byteSize) {
                int window = (int) Math.min(byteSize - done, ResponseOutput.WINDOW);
                ByteBuffer view = target.asSlice(offset + done, window).asByteBuffer();
                int early = (int) bytes.buffered(view.remaining());
                if (early > 0) {
                    bytes.readBuffer(early).writeTo(view, early);
                }
                took.accept(view.position());
                unfinishedNanos += WorkBudgets.ofBytes(view.position());
                while (view.hasRemaining()) {
                    clientWait.startWaitingForRequest();
                    int read = transport.read(view);
                    if (read < 0) {
                        endedWithinBody = true;
                        return false;
                    }
                    clientWait.addReceived(read);
                    unfinishedNanos += WorkBudgets.ofBytes(read);
                    took.accept(read);
                }
                done += window;
            }
        } catch (IOException e) {
            throw new ServerConnectionException("the client does not send the body", e);
        }
        return true;
    }

    /** The sender that stands for this client among all that share the buffer pool. */
    ClientQuotaKey sender() {
        if (sender == null) {
            sender = ClientQuotaKey.at(remotePeer.address());
        }
        return sender;
    }

    /** Reads no more of what the client sends, and wakes the connection's thread. For any thread. */
    void stopReading() {
        transport.shutdownInput();
    }

    void beginBody() {
        clientWait.beginBody();
    }

    /** No more of the body is read: the client has done its part. */
    void endBody() {
        clientWait.stopWaiting();
    }

    HelidonDataReader bytes() {
        return bytes;
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        try {
            socket.open();
            watch.add(this);
            if (budget.awaitTurn(() -> fastPath.hasEnded(READ_AHEAD))) {
                clientWait.startWaiting();
                http1.handle(limit);
            }
        } catch (IOException e) {
            throw new ServerConnectionException("the client left before its first request", e);
        } finally {
            watch.remove(this);
            // The end of the connection is all that the client can be told.
            boolean within = budget.abandon(unfinishedNanos);
            LOG.trace("a connection ends with {} ns of work unfinished: {}", unfinishedNanos, within);
            clientWait.startWaiting();
            Hold ended = attached;
            if (ended != null) {
                ended.close();
            }
            socket.end();
            fastPath.release();
        }
    }

    /** How long the client has been waited for. Requests under way do not make a connection idle. */
    @Override
    public Duration idleTime() {
        return attached != null ? Duration.ZERO : clientWait.waiting();
    }

    @Override
    public void close(boolean interrupt) {
        if (!socket.opened() || (!interrupt && !canInterrupt() && idleTime().compareTo(timeout()) > 0)) {
            // The client stopped in a handshake, a request or a response: only the channel's end wakes our thread.
            socket.close();
        }
        if (interrupt) {
            socket.close(); // by the transport, which tells whom the channel is lent to before its descriptor is
            // another's
            http1.close(true);
        } else if (activity.endIfIdle()) {
            // Without an interrupt, which could hit the thread in what it does after the wait.
            socket.close();
        }
    }

    @Override
    public boolean canInterrupt() {
        return !activity.isBusy();
    }

    private Duration timeout() {
        return context.listenerContext().config().idleConnectionTimeout();
    }

    @Override
    public ListenerContext listenerContext() {
        return context.listenerContext();
    }

    @Override
    public ExecutorService executor() {
        return context.executor();
    }

    @Override
    public DataWriter dataWriter() {
        return socket.writer();
    }

    @Override
    public DataReader dataReader() {
        return bytes;
    }

    @Override
    public Router router() {
        return handler;
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
        return context.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
        return context.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
        return remotePeer;
    }

    @Override
    public PeerInfo localPeer() {
        return context.localPeer();
    }

    @Override
    public boolean isSecure() {
        return socket.secure();
    }

    @Override
    public String socketId() {
        return context.socketId();
    }

    @Override
    public String childSocketId() {
        return context.childSocketId();
    }
}
