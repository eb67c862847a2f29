// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.listener.IoBuffers;
import gatun.listener.Transport;
import gatun.listener.Transport.SocketTransport;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Cuts what a client sends into frames. Small payloads pass through a native buffer; large ones are read straight to
 * where they belong. A waiting reader has a small buffer only: it takes a large one while the client has more than fits
 * into that. Used by the reading thread only.
 */
public final class FrameReader {
    /** From this size on, bytes that are not in the buffer yet are read straight into their destination. */
    private static final int DIRECT_READ_SIZE = 32 * 1024;

    private final Transport transport;
    private final ConnectionBuffers buffers;
    private final ByteBuffer small;
    private final MemorySegment smallMemory;
    private final ByteBuffer smallView;

    /** Unread bytes lie between position and limit. */
    private ByteBuffer buffer;

    private MemorySegment memory;

    /** The same bytes as in the buffer, for {@link #peek} and {@link #view}: one for all frames. */
    private ByteBuffer view;

    private boolean large;

    /** Whether the last read filled the buffer, so that the client probably has more. */
    private boolean filled;

    private int length;
    private int type;
    private int flags;
    private int streamId;

    public FrameReader(Transport transport, ConnectionBuffers buffers) {
        this.transport = transport;
        this.buffers = buffers;
        this.small = buffers.small().take();
        this.smallMemory = MemorySegment.ofBuffer(small);
        this.smallView = small.duplicate();
        this.memory = smallMemory;
        this.view = smallView;
        this.buffer = small.limit(0);
    }

    /** Gives back the buffers; nothing is read afterwards. */
    public void release() {
        useSmall();
        buffers.small().give(small);
    }

    /** Reads the next frame's header; false when the client ended the connection between two frames. */
    public boolean next() throws IOException {
        if (!buffer.hasRemaining() && fill() < 0) {
            return false;
        }
        require(Http2.FRAME_HEADER_SIZE);
        int lengthAndType = buffer.getInt();
        length = lengthAndType >>> 8;
        type = lengthAndType & 0xff;
        flags = buffer.get() & 0xff;
        streamId = buffer.getInt() & Integer.MAX_VALUE;
        return true;
    }

    /** Bytes of the frame's payload. */
    public int length() {
        return length;
    }

    /** The frame's type. */
    public int type() {
        return type;
    }

    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** The frame's stream; 0 for the connection. */
    public int streamId() {
        return streamId;
    }

    /** Throws {@link ConnectionError} FRAME_SIZE_ERROR unless the frame's size is one that its type may have. */
    public void requireSize(boolean fits) {
        if (!fits) {
            throw new ConnectionError(
                    Http2Error.FRAME_SIZE_ERROR,
                    "a frame of type " + type + " with " + length + " bytes on stream " + streamId);
        }
    }

    /** Throws {@link ConnectionError} PROTOCOL_ERROR for a frame on a stream. */
    public void requireConnection() {
        if (streamId != 0) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR,
                    "a frame of type " + type + " on stream " + streamId + ", which belongs to the connection");
        }
    }

    /** Throws {@link ConnectionError} PROTOCOL_ERROR for a frame on the connection. */
    public void requireStream() {
        if (streamId == 0) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR, "a frame of type " + type + " that belongs to no stream");
        }
    }

    /** Waits until {@code count} bytes, at most {@link #capacity}, are in the buffer. */
    void require(int count) throws IOException {
        while (buffer.remaining() < count) {
            if (fill() < 0) {
                throw new EOFException("the client left in the middle of a frame");
            }
        }
    }

    /** Whether a whole WINDOW_UPDATE or RST_STREAM has come and is next. For between two frames. */
    public boolean isWindowUpdateOrResetNext() {
        if (buffer.remaining() < Http2.FRAME_HEADER_SIZE + Integer.BYTES) {
            return false;
        }
        int lengthAndType = buffer.getInt(buffer.position());
        return lengthAndType == (Integer.BYTES << Byte.SIZE | Http2.WINDOW_UPDATE)
                || lengthAndType == (Integer.BYTES << Byte.SIZE | Http2.RST_STREAM);
    }

    /** Whether {@link #hasMore} can be asked. */
    public boolean canLook() {
        return transport instanceof SocketTransport;
    }

    /** Whether the client has sent more or has left. Never waits; for when nobody writes, if {@link #canLook}. */
    public boolean hasMore() throws IOException {
        if (buffer.hasRemaining()) {
            return true;
        }
        buffer.clear();
        try {
            int count = ((SocketTransport) transport).readNow(buffer);
            filled = !buffer.hasRemaining();
            return count != 0;
        } finally {
            buffer.flip();
        }
    }

    /** Reads what there is room for; whether the client has ended. Never waits; when nothing was read or written. */
    public boolean hasEnded() throws IOException {
        buffer.compact();
        try {
            return buffer.hasRemaining() && ((SocketTransport) transport).readNow(buffer) < 0;
        } finally {
            buffer.flip();
        }
    }

    /** Bytes that came already and are not read. */
    public int buffered() {
        return buffer.remaining();
    }

    /** The most bytes that {@link #require} can give. */
    public int capacity() {
        return ConnectionBuffers.SMALL_BYTE_SIZE;
    }

    /** The next byte, unsigned. */
    public int readByte() throws IOException {
        require(1);
        return buffer.get() & 0xff;
    }

    /** The next two bytes, unsigned. */
    public int readShort() throws IOException {
        require(2);
        return buffer.getShort() & 0xffff;
    }

    /** The next four bytes. */
    public int readInt() throws IOException {
        require(4);
        return buffer.getInt();
    }

    /** The next eight bytes. */
    public long readLong() throws IOException {
        require(8);
        return buffer.getLong();
    }

    /** Passes over {@code count} bytes. */
    public void skip(int count) throws IOException {
        int left = count;
        while (left > 0) {
            require(1);
            int step = Math.min(left, buffer.remaining());
            buffer.position(buffer.position() + step);
            left -= step;
        }
    }

    /** Passes over everything until the client ends the connection. */
    public void discardAll() throws IOException {
        do {
            buffer.position(buffer.limit());
        } while (fill() >= 0);
    }

    /** Those of the next {@code count} bytes that are in the buffer; valid until the next read. */
    public ByteBuffer peek(int count) {
        int position = buffer.position();
        return view.limit(position + Math.min(count, buffer.remaining())).position(position);
    }

    /** The next {@code count} bytes, passed over, between position and limit; valid as those of {@link #peek}. */
    public ByteBuffer view(int count) throws IOException {
        require(count);
        ByteBuffer next = peek(count);
        buffer.position(next.limit());
        return next;
    }

    /** Reads {@code count} bytes to the heap. */
    public void readInto(byte[] target, int offset, int count) throws IOException {
        int done = 0;
        while (done < count) {
            require(1);
            int step = Math.min(count - done, buffer.remaining());
            buffer.get(target, offset + done, step);
            done += step;
        }
    }

    /** Reads {@code count} bytes to native memory. */
    public void readInto(MemorySegment target, long offset, int count) throws IOException {
        int done = 0;
        while (done < count) {
            int left = count - done;
            if (buffer.hasRemaining()) {
                int step = Math.min(left, buffer.remaining());
                MemorySegment.copy(memory, buffer.position(), target, offset + done, step);
                buffer.position(buffer.position() + step);
                done += step;
            } else if (left >= DIRECT_READ_SIZE) {
                ByteBuffer place = target.asSlice(offset + done, left).asByteBuffer();
                while (place.hasRemaining()) {
                    if (transport.read(place) < 0) {
                        throw new EOFException("the client left in the middle of a frame");
                    }
                }
                done = count;
            } else {
                require(1);
            }
        }
    }

    /** Reads the bytes that the transport has, at least one; -1 at its end. */
    private int fill() throws IOException {
        if (filled != large) {
            change();
        } else {
            buffer.compact();
        }
        try {
            int count = transport.read(buffer);
            filled = !buffer.hasRemaining();
            return count;
        } finally {
            buffer.flip();
        }
    }

    /** Goes on with the other buffer, which fits the unread bytes, fewer than {@link #capacity}. */
    private void change() {
        ByteBuffer before = buffer;
        if (!large) {
            large = true;
            buffer = buffers.large().take();
            memory = MemorySegment.ofBuffer(buffer);
            view = buffer.duplicate();
            buffer.put(before);
        } else {
            small.clear().put(before);
            useSmall();
        }
    }

    private void useSmall() {
        ByteBuffer before = buffer;
        buffer = small;
        memory = smallMemory;
        view = smallView;
        if (large) {
            large = false;
            buffers.large().give(before);
        }
    }

    /**
     * A listener's native buffers. A connection keeps two small ones of {@link #SMALL_BYTE_SIZE} bytes, which ordinary
     * messages fit, and takes a large one of {@link IoBuffers#BYTE_SIZE} while more is on its way. Thread-safe.
     */
    public record ConnectionBuffers(IoBuffers small, IoBuffers large) {
        /** Bytes of a small buffer: they are the largest cost of an idle connection. */
        static final int SMALL_BYTE_SIZE = 2560;

        /** Small buffers of their own beside the {@code large} ones. */
        public ConnectionBuffers(IoBuffers large) {
            this(new IoBuffers(SMALL_BYTE_SIZE), large);
        }
    }
}
