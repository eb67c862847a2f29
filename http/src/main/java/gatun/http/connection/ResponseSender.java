// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ClientPresence.ClientWait;
import gatun.http.json.JsonWriter;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.Transport;
import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import io.helidon.webserver.ServerConnectionException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.BooleanSupplier;

/** Sends a connection's responses in turn. For its thread, {@link #isReadTooSlowly} and {@link #cutOff} for any. */
final class ResponseSender {
    /** A response of up to this many bytes is put together and written as one piece: cheaper than a gathering write. */
    private static final int SMALL_ANSWER = 16 * 1024;

    private static final byte[] NO_HEADERS = {};
    private static final JsonWriter NOTHING = new JsonWriter();
    private static final String LINE_END = "\r\n";
    private static final String LAST_CHUNK = "0\r\n\r\n";

    /** The end of a chunk, as a piece of a response. */
    private static final MemorySegment[] CHUNK_END = {MemorySegment.ofArray(new byte[] {'\r', '\n'})};

    private final ResponseOutput output;
    private final ClientWait clientWait;
    private final ClientPresence presence;
    private final HelidonDataReader bytes;
    private final BooleanSupplier hasMore;
    private final JsonWriter json = new JsonWriter();
    private final JsonWriter head = new JsonWriter();
    private ByteBuffer headView = ByteBuffer.wrap(NO_HEADERS);

    /** Header lines for the head of the current response; mostly none. */
    private byte[] moreHeaders = NO_HEADERS;

    /** The number of the current response's status; 0 before there is one. */
    private int status;

    private long bodyByteSize;

    /** Whether the connection was ended because its client reads too slowly. */
    private volatile boolean cutOff;

    private boolean inChunks;

    /** Pauses {@code presence} while a piece is sent; {@code bytes} tell whether the client speaks HTTP/1.0. */
    ResponseSender(
            Transport transport,
            ClientWait clientWait,
            ClientPresence presence,
            HelidonDataReader bytes,
            BooleanSupplier hasMore) {
        this.output = new ResponseOutput(transport, clientWait);
        this.clientWait = clientWait;
        this.presence = presence;
        this.bytes = bytes;
        this.hasMore = hasMore;
    }

    void begin() {
        moreHeaders = NO_HEADERS;
        status = 0;
        bodyByteSize = 0;
    }

    int status() {
        return status;
    }

    long bodyByteSize() {
        return bodyByteSize;
    }

    /** Adds whole lines, each with its line end, to the head of the current response. */
    void addHeaders(String lines) {
        byte[] added = lines.getBytes(StandardCharsets.ISO_8859_1);
        int before = moreHeaders.length;
        moreHeaders = Arrays.copyOf(moreHeaders, before + added.length);
        System.arraycopy(added, 0, moreHeaders, before, added.length);
    }

    /** An empty writer for the text of a response; the next request on this connection uses it again. */
    JsonWriter json() {
        json.clear();
        return json;
    }

    /**
     * Sends {@code headers}, {@code text} and the first {@code count} of {@code tensors}; {@code close} tells the
     * client that the connection ends. Throws {@link ServerConnectionException} when the client is gone.
     */
    void send(ResponseHeaders headers, boolean close, JsonWriter text, MemorySegment[] tensors, int count) {
        long byteSize = text.size();
        for (int i = 0; i < count; i++) {
            byteSize += tensors[i].byteSize();
        }
        status = headers.status();
        bodyByteSize = byteSize;
        head.clear();
        headers.writeTo(head, byteSize, moreHeaders, close);
        clientWait.startWaiting();
        try {
            if (byteSize <= SMALL_ANSWER) {
                head.raw(text.array(), text.size());
                for (int i = 0; i < count; i++) {
                    head.raw(tensors[i]);
                }
                output.write(written());
            } else {
                output.begin();
                output.write(head, text, tensors, count);
                output.end();
            }
        } catch (IOException e) {
            throw notTaken(e);
        }
        clientWait.stopWaiting();
    }

    /** What {@code head} holds; the same view each time, as long as that has not grown. */
    @SuppressWarnings("ReferenceEquality") // whether it is the same array
    private ByteBuffer written() {
        if (headView.array() != head.array()) {
            headView = ByteBuffer.wrap(head.array());
        }
        return headView.clear().limit(head.size());
    }

    void sendHeadOf(ResponseHeaders headers, boolean close, long byteSize) {
        status = headers.status();
        head.clear();
        headers.writeTo(head, byteSize, moreHeaders, close);
        sendHead();
    }

    void sendBodiless(ResponseHeaders headers, boolean close) {
        status = headers.status();
        head.clear();
        headers.writeBodilessTo(head, moreHeaders, close);
        sendHead();
    }

    /** Begins a response in pieces: chunks, or up to the connection's end for HTTP/1.0. Sends nothing yet. */
    void beginPieces(ResponseHeaders headers, boolean close) {
        status = headers.status();
        head.clear();
        inChunks = !bytes.speaksOldHttp();
        if (inChunks) {
            headers.writeChunkedTo(head, moreHeaders, close);
        } else {
            headers.writeUnboundedTo(head, moreHeaders);
        }
    }

    /** Begins a response of {@code byteSize} bytes in pieces, ended by {@link #sendLast}. Sends nothing yet. */
    void beginSized(ResponseHeaders headers, boolean close, long byteSize) {
        status = headers.status();
        head.clear();
        inChunks = false;
        headers.writeTo(head, byteSize, moreHeaders, close);
    }

    /** Sends a piece, not the last, even while the client waits; waits for slow clients and throws if they are gone. */
    void sendPiece(JsonWriter piece) {
        if (inChunks) {
            head.raw(Integer.toHexString(piece.size())).raw(LINE_END);
            bodyByteSize -= CHUNK_END[0].byteSize(); // a part of the frame around the piece
        }
        sendHead(piece, CHUNK_END, inChunks ? 1 : 0);
    }

    /** Sends the last piece, which may be empty, and the first {@code count} of {@code tensors}; ends the response. */
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

    void endPieces() {
        if (inChunks) {
            head.raw(LAST_CHUNK);
        }
        if (head.size() > 0) {
            sendHead();
        }
    }

    /** Frees the texts of the response, which has been sent; keeps their memory for the next where it is little. */
    void releaseTexts() {
        json.clear();
        head.clear();
    }

    boolean isReadTooSlowly() {
        return output.isReadTooSlowly();
    }

    void cutOff() {
        cutOff = true;
    }

    private RuntimeException notTaken(IOException e) {
        output.end();
        return cutOff
                ? new ClientErrorException(
                        ClientError.TIMEOUT, "the answer was read too slowly while memory was short for others", e)
                : new ServerConnectionException("the client does not take the answer", e);
    }

    private void sendHead() {
        sendHead(NOTHING, CHUNK_END, 0);
    }

    /** Sends the head, {@code text} and the first {@code count} of {@code tensors}; waits for slow readers. */
    private void sendHead(JsonWriter text, MemorySegment[] tensors, int count) {
        bodyByteSize += text.size();
        for (int i = 0; i < count; i++) {
            bodyByteSize += tensors[i].byteSize();
        }
        Runnable onGone = presence.pause();
        clientWait.startWaiting();
        try {
            // Of one piece only: the next may be long in coming without any fault of the client's.
            output.begin();
            output.write(head, text, tensors, count);
            output.end();
        } catch (IOException e) {
            throw notTaken(e);
        }
        clientWait.stopWaiting();
        head.clear();
        if (onGone != null) {
            presence.startWaiting(onGone, hasMore.getAsBoolean());
        }
    }

    /** Writes responses in place, and notes whenever the client took some bytes. For the connection's thread. */
    static final class ResponseOutput {
        /** The greatest piece of native memory that a byte buffer shows at a time. */
        static final int WINDOW = 1 << 30;

        private final Transport transport;
        private final ClientWait clientWait;
        private final SlowReaderDetector pace = new SlowReaderDetector();
        private final ByteBuffer[] single = new ByteBuffer[1];

        ResponseOutput(Transport transport, ClientWait clientWait) {
            this.transport = transport;
            this.clientWait = clientWait;
        }

        void write(ByteBuffer piece) throws IOException {
            single[0] = piece;
            while (piece.hasRemaining()) {
                int before = piece.remaining();
                transport.writeSome(single, 0, 1);
                clientWait.startWaiting();
                pace.addTaken(before - piece.remaining());
            }
        }

        void begin() {
            pace.begin();
        }

        void end() {
            pace.end();
        }

        /** Whether the client takes the response too slowly for others that find no memory. For any thread. */
        boolean isReadTooSlowly() {
            return pace.isTooSlow();
        }

        /** Writes {@code head}, then {@code text}, then the first {@code count} of {@code tensors}, each in place. */
        void write(JsonWriter head, JsonWriter text, MemorySegment[] tensors, int count) throws IOException {
            ByteBuffer[] pieces = new ByteBuffer[2 + count];
            pieces[0] = ByteBuffer.wrap(head.array(), 0, head.size());
            pieces[1] = ByteBuffer.wrap(text.array(), 0, text.size());
            for (int i = 0; i < count; i++) {
                if (tensors[i].byteSize() > WINDOW) {
                    writeHuge(pieces, tensors, i, count);
                    return;
                }
                pieces[2 + i] = tensors[i].asByteBuffer();
            }
            writeAll(pieces, pieces.length);
        }

        /** Writes the pieces before tensor {@code first}, and from there on each tensor in windows. */
        private void writeHuge(ByteBuffer[] pieces, MemorySegment[] tensors, int first, int count) throws IOException {
            writeAll(pieces, 2 + first);
            for (int i = first; i < count; i++) {
                long byteSize = tensors[i].byteSize();
                for (long at = 0; at < byteSize; at += WINDOW) {
                    write(tensors[i]
                            .asSlice(at, Math.min(WINDOW, byteSize - at))
                            .asByteBuffer());
                }
            }
        }

        private static long remaining(ByteBuffer[] pieces, int count) {
            long remaining = 0;
            for (int i = 0; i < count; i++) {
                remaining += pieces[i].remaining();
            }
            return remaining;
        }

        private void writeAll(ByteBuffer[] pieces, int count) throws IOException {
            int first = 0;
            long left = remaining(pieces, count);
            while (first < count) {
                transport.writeSome(pieces, first, count);
                clientWait.startWaiting();
                long now = remaining(pieces, count);
                pace.addTaken(left - now);
                left = now;
                while (first < count && !pieces[first].hasRemaining()) {
                    first++;
                }
            }
        }
    }
}
