// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.json.JsonWriter;
import gatun.listener.ClientError;
import gatun.listener.ClientErrorException;
import gatun.listener.SocketTransport;
import gatun.memory.buffers.Sender;
import gatun.memory.tensor.GatunException;
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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection. Helidon's own connection speaks HTTP/1.1 on it; the bodies of requests and the responses with
 * tensors bypass Helidon, between the transport and native memory. Used by its one thread, except {@link #idleTime},
 * {@link #close} and {@link #look}, which any thread may call.
 */
public final class ClientConnection implements ServerConnection, ConnectionContext, InterruptableTask<Void> {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);

    /** A response of up to this many bytes is put together and written as one piece: cheaper than a gathering write. */
    private static final int SMALL_ANSWER = 16 * 1024;

    /**
     * Before a connection is closed, up to this many bytes of an unwanted body are read, so that the response arrives.
     */
    private static final long LINGERING_BYTES = 64L << 20;

    /** Up to this many bytes of a next request are read while the server drains, to see whether there is one. */
    private static final int READ_AHEAD = 4 * 1024;

    private static final byte[] NO_HEADERS = {};
    private static final JsonWriter NOTHING = new JsonWriter();
    private static final String LINE_END = "\r\n";
    private static final String LAST_CHUNK = "0\r\n\r\n";

    /** The end of a chunk, as a piece of a response. */
    private static final MemorySegment[] CHUNK_END = {MemorySegment.ofArray(new byte[] {'\r', '\n'})};

    private final ConnectionContext context;
    private final ClientSocket socket;
    private final SocketTransport transport;
    private final ResponseOutput answers;
    private final ClientWait clientWait;
    private final ClientBytes bytes;
    private final ClientPresence presence;
    private final RequestActivity activity;
    private final DisconnectWatch watch;
    private final JsonWriter json = new JsonWriter();
    private final JsonWriter head = new JsonWriter();
    /** Helidon asks for it with each request, and would look it up each time. */
    private final PeerInfo remotePeer;

    /** Made when the first body is waited for. */
    private @Nullable Sender sender;

    /** Header lines for the head of the current response; mostly none. */
    private byte[] moreHeaders = NO_HEADERS;

    /** Whether the connection was ended because its client reads too slowly. */
    private volatile boolean cutOff;

    /** Whether the client sends no more, though a body is not whole. */
    private boolean endedWithinBody;

    /** Whether the pieces of the current response are chunks. */
    private boolean inChunks;

    private final RequestRouting routing;
    private final DirectRequests direct;
    private final ServerConnection http1;

    /**
     * A connection on {@code socket}.
     *
     * @param context what Helidon knows of it
     * @param resources shared with the listener's other connections
     * @param clientWait tells how long the client is waited for
     * @param http1Connections makes Helidon's own connection
     */
    ClientConnection(
            ConnectionContext context,
            ClientSocket socket,
            ConnectionResources resources,
            ClientWait clientWait,
            ServerConnectionSelector http1Connections) {
        this.context = context;
        this.socket = socket;
        this.transport = socket.transport();
        this.clientWait = clientWait;
        this.answers = new ResponseOutput(transport, clientWait);
        this.watch = resources.watch();
        this.presence = new ClientPresence(transport);
        this.activity = new RequestActivity(resources.stop());
        this.routing = new RequestRouting(this, resources.routes(), resources.origins(), context.router());
        this.direct = new DirectRequests(transport, clientWait, presence, activity, routing, LongHeads.OF_PROCESS);
        this.bytes = ClientBytes.of(context.dataReader(), direct, socket.reader(), presence, activity, clientWait);
        this.remotePeer = context.remotePeer();
        this.http1 = http1Connections.connection(this);
    }

    /** The head of a request has come: the client has done its part for now. */
    void beginRequest() {
        clientWait.stopWaiting();
        moreHeaders = NO_HEADERS;
    }

    /**
     * Helidon has read the head of a request.
     *
     * @throws CloseConnectionException when the connection was ended first
     */
    void beginHelidonRequest() {
        activity.beginRequest();
    }

    /** A request that Helidon has read is answered; skips the unread rest of its body. */
    void endRequest(HelidonRequest request) {
        request.skipBody();
        direct.begin(bytes.takeBuffered());
        activity.endRequest();
    }

    /** Frees the texts of the response, which has been sent; keeps their memory for the next where it is little. */
    void releaseTexts() {
        json.clear();
        head.clear();
    }

    /** Adds whole lines, each with its line end, to the head of the current response. */
    void addHeaders(String lines) {
        byte[] added = lines.getBytes(StandardCharsets.ISO_8859_1);
        int before = moreHeaders.length;
        moreHeaders = Arrays.copyOf(moreHeaders, before + added.length);
        System.arraycopy(added, 0, moreHeaders, before, added.length);
    }

    /** An empty writer for the text of a response; the next request on this connection uses it again. */
    public JsonWriter json() {
        json.clear();
        return json;
    }

    /**
     * Sends the response to a request: {@code headers}, then {@code text}, then the first {@code count} of
     * {@code tensors}.
     *
     * @param close whether the client is told that the connection ends
     * @throws ServerConnectionException when the client is gone
     */
    public void send(ResponseHeaders headers, boolean close, JsonWriter text, MemorySegment[] tensors, int count) {
        long byteSize = text.size();
        for (int i = 0; i < count; i++) {
            byteSize += tensors[i].byteSize();
        }
        head.clear();
        headers.writeTo(head, byteSize, moreHeaders, close);
        clientWait.startWaiting();
        try {
            if (byteSize <= SMALL_ANSWER) {
                head.raw(text.array(), text.size());
                for (int i = 0; i < count; i++) {
                    head.raw(tensors[i]);
                }
                answers.write(ByteBuffer.wrap(head.array(), 0, head.size()));
            } else {
                answers.begin();
                answers.write(head, text, tensors, count);
                answers.end();
            }
        } catch (IOException e) {
            throw notTaken(e);
        }
        clientWait.stopWaiting();
    }

    private RuntimeException notTaken(IOException e) {
        answers.end();
        return cutOff
                ? new ClientErrorException(
                        ClientError.TIMEOUT, "the answer was read too slowly while memory was short for others", e)
                : new ServerConnectionException("the client does not take the answer", e);
    }

    /** Ends the connection where its client reads a response too slowly. For any thread, when others find no memory. */
    void endIfReadTooSlowly() {
        if (answers.isReadTooSlowly()) {
            cutOff = true;
            socket.close();
        }
    }

    /** Sends the head of the response that {@link #send} would give, for a client that asked for the head only. */
    void sendHeadOf(ResponseHeaders headers, boolean close, long byteSize) {
        head.clear();
        headers.writeTo(head, byteSize, moreHeaders, close);
        sendHead();
    }

    /** Sends a response of a status that has no body. */
    void sendBodiless(ResponseHeaders headers, boolean close) {
        head.clear();
        headers.writeBodilessTo(head, moreHeaders, close);
        sendHead();
    }

    /**
     * Begins a response in pieces: chunks, or for HTTP/1.0 all bytes up to the connection's end. Nothing is sent before
     * the first piece.
     */
    void beginPieces(ResponseHeaders headers, boolean close) {
        head.clear();
        inChunks = !bytes.speaksOldHttp();
        if (inChunks) {
            headers.writeChunkedTo(head, moreHeaders, close);
        } else {
            headers.writeUnboundedTo(head, moreHeaders);
        }
    }

    /**
     * Begins a response of {@code byteSize} bytes in pieces, which {@link #sendLast} ends. Nothing is sent before the
     * first piece.
     */
    void beginSized(ResponseHeaders headers, boolean close, long byteSize) {
        head.clear();
        inChunks = false;
        headers.writeTo(head, byteSize, moreHeaders, close);
    }

    /**
     * Sends a piece of a response, which is not the last; waits for a client that reads slowly. May be called while the
     * client waits.
     *
     * @throws ServerConnectionException when the client is gone
     */
    void sendPiece(JsonWriter piece) {
        if (inChunks) {
            head.raw(Integer.toHexString(piece.size())).raw(LINE_END);
        }
        sendHead(piece, CHUNK_END, inChunks ? 1 : 0);
    }

    /**
     * Sends the last piece of a response, which may be empty, and then the first {@code count} of {@code tensors}; ends
     * the response.
     */
    void sendLast(JsonWriter piece, MemorySegment[] tensors, int count) {
        if (inChunks) {
            if (piece.size() > 0) {
                sendPiece(piece);
            }
            endPieces();
        } else if (head.size() > 0 || piece.size() > 0 || count > 0) {
            sendHead(piece, tensors, count);
        }
    }

    /** Ends a response in pieces. */
    void endPieces() {
        if (inChunks) {
            head.raw(LAST_CHUNK);
        }
        if (head.size() > 0) {
            sendHead();
        }
    }

    private void sendHead() {
        sendHead(NOTHING, CHUNK_END, 0);
    }

    /**
     * Sends the head, {@code text} and the first {@code count} of {@code tensors}; waits for a client that reads
     * slowly.
     */
    private void sendHead(JsonWriter text, MemorySegment[] tensors, int count) {
        Runnable onGone = presence.pause();
        clientWait.startWaiting();
        try {
            // Of one piece only: the next may be long in coming without any fault of the client's.
            answers.begin();
            answers.write(head, text, tensors, count);
            answers.end();
        } catch (IOException e) {
            throw notTaken(e);
        }
        clientWait.stopWaiting();
        head.clear();
        if (onGone != null) {
            presence.startWaiting(onGone, hasMore());
        }
    }

    /**
     * Ends the connection after a response that announced the end: reads on for a while, since a client that is still
     * sending when the socket closes may lose the response. While the server stops, nothing is waited for.
     *
     * @throws CloseConnectionException always
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
     * Waits for {@code answer}, and notices if the client leaves meanwhile.
     *
     * @param onGone is run, on another thread, when the client is gone; perhaps a moment after the response has come
     * @throws CloseConnectionException when the client is gone and there is no response
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

    /** Whether the client has sent more than the current request. */
    private boolean hasMore() {
        return direct.hasMore() || bytes.buffered(1) > 0;
    }

    /**
     * Whether the server drains and the client has sent nothing more, so that the current response ends the connection.
     */
    boolean isLast() {
        return activity.draining()
                && (activity.mustBeLast() || !(hasMore() || presence.hasSentMore(ByteBuffer.allocate(READ_AHEAD))));
    }

    /** As {@link ClientPresence#look}. */
    ClientPresence.Look look(ByteBuffer scratch) {
        return presence.look(scratch);
    }

    /** As {@link ClientPresence#isWaitedFor}. */
    boolean isWaitedFor() {
        return presence.isWaitedFor();
    }

    /** How many of at most {@code limit} bytes have come and not been used. */
    long buffered(long limit) {
        return Math.min(limit, direct.buffered() + bytes.buffered(limit));
    }

    /**
     * Fills {@code byteSize} bytes of {@code target} from the socket; false when the client ends before.
     *
     * @param took hears how many bytes have come, each time that some have
     */
    boolean fill(MemorySegment target, long offset, long byteSize, LongConsumer took) {
        long done = 0;
        try {
            while (done < byteSize) {
                int window = (int) Math.min(byteSize - done, ResponseOutput.WINDOW);
                ByteBuffer view = target.asSlice(offset + done, window).asByteBuffer();
                direct.moveTo(view);
                int early = (int) bytes.buffered(view.remaining());
                if (early > 0) {
                    bytes.readBuffer(early).writeTo(view, early);
                }
                took.accept(view.position());
                while (view.hasRemaining()) {
                    clientWait.startWaitingForRequest();
                    int read = transport.read(view);
                    if (read < 0) {
                        endedWithinBody = true;
                        return false;
                    }
                    clientWait.addReceived(read);
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
    Sender sender() {
        if (sender == null) {
            sender = Sender.at(remotePeer.address());
        }
        return sender;
    }

    /** Reads no more of what the client sends, and wakes the connection's thread. For any thread. */
    void stopReading() {
        transport.shutdownInput();
    }

    /** A request's body is read from now on. */
    void beginBody() {
        clientWait.beginBody();
    }

    /** No more of the body is read: the client has done its part. */
    void endBody() {
        clientWait.stopWaiting();
    }

    /** The client's bytes, as Helidon reads them. */
    ClientBytes bytes() {
        return bytes;
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        try {
            socket.open();
            watch.add(this);
            http1.handle(limit);
        } finally {
            watch.remove(this);
            clientWait.startWaiting();
            socket.end();
            direct.release();
        }
    }

    /** How long the client has been waited for. A request that is being answered does not make the connection idle. */
    @Override
    public Duration idleTime() {
        return clientWait.waiting();
    }

    @Override
    public void close(boolean interrupt) {
        if (!socket.opened() || (!interrupt && !canInterrupt() && idleTime().compareTo(timeout()) > 0)) {
            // The client stopped in the middle of a handshake, a request or a response: nothing but the end of the
            // channel wakes our thread.
            socket.close();
        }
        if (interrupt) {
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
        return routing;
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
