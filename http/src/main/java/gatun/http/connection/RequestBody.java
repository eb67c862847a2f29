// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.IncomingBuffer;
import gatun.memory.tensor.GatunException;
import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.ServerConnectionException;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/** One request's body, from the socket into a pooled buffer, copied once. For the connection's thread. */
public final class RequestBody {
    /** The value of {@link #announcedByteSize} for a body in chunks. */
    public static final long IN_CHUNKS = -1;

    /** The more chunks, the more they cost. */
    private static final int CHUNK_LIMIT = 65_536;

    /** How much of a body is charged before it is read. */
    private static final long FIRST_BYTES = 64 * 1024;

    private final ClientConnection connection;
    private final IncomingRequest request;
    private final long announcedByteSize;
    private boolean broken;
    private long chunkByteSize;

    /** Makes the failure of a body that is too long. */
    @FunctionalInterface
    public interface Refusal {
        /** The failure for a body of at least {@code byteSize} bytes. */
        GatunException tooLong(long byteSize);
    }

    /** A body in native memory, from {@code offset} of {@code buffer} on, which whoever gets this record closes. */
    public record Landed(Buffer buffer, long offset, long byteSize) {
        /** The whole buffer, also what lies before the body. */
        public MemorySegment segment() {
            return buffer.segment();
        }
    }

    RequestBody(ClientConnection connection, IncomingRequest request) {
        this.connection = connection;
        this.request = request;
        this.announcedByteSize = request.announcedByteSize();
    }

    /** The size that the client announced, in bytes; {@link #IN_CHUNKS} when it did not, 0 when there is no body. */
    public long announcedByteSize() {
        return announcedByteSize;
    }

    /** The bytes that the client announced, or those of the chunks that were read. */
    long receivedByteSize() {
        return announcedByteSize == IN_CHUNKS ? chunkByteSize : announcedByteSize;
    }

    /** Whether the connection cannot be used any more after this request, since the end of its body is not known. */
    public boolean broken() {
        return broken;
    }

    /**
     * Reads the body into a buffer from {@code landingOffset} on; one announced longer than {@code byteLimit} is not
     * read. Throws {@link GatunException} when it is too long or malformed, or the pool has no room.
     */
    public Landed land(BufferPool pool, int landingOffset, long byteLimit, Refusal refusal) {
        if (announcedByteSize == 0) {
            return landAnnounced(pool, landingOffset, byteLimit, refusal);
        }
        connection.beginBody();
        try {
            return announcedByteSize == IN_CHUNKS
                    ? landChunks(pool, landingOffset, byteLimit, refusal)
                    : landAnnounced(pool, landingOffset, byteLimit, refusal);
        } finally {
            connection.endBody();
        }
    }

    private Landed landAnnounced(BufferPool pool, int landingOffset, long byteLimit, Refusal refusal) {
        if (announcedByteSize > byteLimit) {
            throw refusal.tooLong(announcedByteSize);
        }
        long here = connection.buffered(announcedByteSize);
        return here == announcedByteSize
                ? landBuffered(pool, landingOffset)
                : landIncoming(pool, landingOffset, landingOffset + here);
    }

    private Landed landBuffered(BufferPool pool, int landingOffset) {
        Buffer buffer = pool.take(landingOffset + announcedByteSize);
        try {
            if (announcedByteSize > 0) {
                request.beginBody();
                fill(buffer.segment(), landingOffset, announcedByteSize, count -> {});
                request.endBody();
            }
            return new Landed(buffer, landingOffset, announcedByteSize);
        } catch (Throwable t) {
            buffer.close();
            throw t;
        }
    }

    private Landed landIncoming(BufferPool pool, int landingOffset, long hereByteSize) {
        try (IncomingBuffer incoming = receive(pool, landingOffset + announcedByteSize, hereByteSize)) {
            request.beginBody();
            broken = true;
            fill(incoming, landingOffset, announcedByteSize);
            request.endBody();
            broken = false;
            return new Landed(incoming.complete(), landingOffset, announcedByteSize);
        }
    }

    private IncomingBuffer receive(BufferPool pool, long byteSize, long hereByteSize) {
        return pool.receive(
                byteSize, Math.max(hereByteSize, FIRST_BYTES), connection.sender(), why -> connection.stopReading());
    }

    private Landed landChunks(BufferPool pool, int landingOffset, long byteLimit, Refusal refusal) {
        request.beginBody();
        broken = true;
        try (IncomingBuffer incoming = receive(pool, landingOffset + FIRST_BYTES, 0)) {
            long byteSize = 0;
            int chunkCount = 0;
            ChunkSyntax chunks = new ChunkSyntax();
            for (long chunk = chunkByteSize(chunks, incoming); chunk > 0; chunk = chunkByteSize(chunks, incoming)) {
                if (++chunkCount > CHUNK_LIMIT) {
                    throw GatunException.invalidArgument("Chunked request body exceeds maximum of " + CHUNK_LIMIT
                            + " non-empty chunks. Send fewer or larger HTTP chunks.");
                }
                if (byteSize + chunk > byteLimit) {
                    throw refusal.tooLong(byteSize + chunk);
                }
                incoming.grow(landingOffset + byteSize, landingOffset + byteSize + chunk);
                fill(incoming, landingOffset + byteSize, chunk);
                byteSize += chunk;
                chunkByteSize = byteSize;
                if (!line().isEmpty()) {
                    throw ChunkSyntax.malformed("a chunk is longer than announced");
                }
            }
            skipTrailer(chunks);
            request.endBody();
            broken = false;
            return new Landed(incoming.complete(landingOffset + byteSize), landingOffset, byteSize);
        }
    }

    /** Fills {@code byteSize} bytes from {@code offset} on, as the pool gives room. */
    private void fill(IncomingBuffer incoming, long offset, long byteSize) {
        long end = offset + byteSize;
        for (long at = offset; at < end; ) {
            long next = Math.min(end, incoming.room(at));
            try {
                fill(incoming.segment(), at, next - at, incoming::received);
            } catch (GatunException | ServerConnectionException e) {
                // The thread that took the memory away has ended the reading, too.
                incoming.requireHeld();
                throw e;
            }
            at = next;
        }
    }

    private void fill(MemorySegment target, long offset, long byteSize, LongConsumer took) {
        if (!connection.fill(target, offset, byteSize, took)) {
            broken = true;
            throw GatunException.invalidArgument(
                    "the request body ended before all of its announced bytes were there; send as many as announced");
        }
    }

    /** Reads the line before a chunk. When the memory was taken away meanwhile, that is the failure. */
    private long chunkByteSize(ChunkSyntax chunks, IncomingBuffer incoming) {
        try {
            return chunks.byteSize(line());
        } catch (GatunException e) {
            incoming.requireHeld();
            throw e;
        }
    }

    private void skipTrailer(ChunkSyntax chunks) {
        for (String line = line(); !line.isEmpty(); line = line()) {
            chunks.trailer(line);
        }
    }

    private String line() {
        try {
            return connection.bytes().line(ChunkSyntax.MAX_LINE_BYTES);
        } catch (DataReader.IncorrectNewLineException e) {
            throw ChunkSyntax.malformed("a line among the chunks does not end in a carriage return and a line feed");
        } catch (DataReader.InsufficientDataAvailableException e) {
            throw ChunkSyntax.malformed("the request body ended before its last chunk");
        }
    }
}
