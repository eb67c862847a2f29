// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.json.JsonWriter;
import gatun.listener.Transport;
import gatun.memory.buffers.ReadingPace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Writes responses in place, and notes whenever the client took some bytes. For the connection's thread. */
final class ResponseOutput {
    /** The greatest piece of native memory that a byte buffer shows at a time. */
    static final int WINDOW = 1 << 30;

    private final Transport transport;
    private final ClientWait clientWait;
    private final ReadingPace pace = new ReadingPace();
    private final ByteBuffer[] single = new ByteBuffer[1];

    /** Writes responses to {@code transport}. */
    ResponseOutput(Transport transport, ClientWait clientWait) {
        this.transport = transport;
        this.clientWait = clientWait;
    }

    /** Writes the whole of one piece. */
    void write(ByteBuffer piece) throws IOException {
        single[0] = piece;
        while (piece.hasRemaining()) {
            int before = piece.remaining();
            transport.writeSome(single, 0, 1);
            clientWait.startWaiting();
            pace.addTaken(before - piece.remaining());
        }
    }

    /** A response begins that lies in memory which others may need. */
    void begin() {
        pace.begin();
    }

    /** The response is sent, or will not be. */
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
                write(tensors[i].asSlice(at, Math.min(WINDOW, byteSize - at)).asByteBuffer());
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
