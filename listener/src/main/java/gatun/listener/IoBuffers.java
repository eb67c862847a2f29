package gatun.listener;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The read and write buffers of a listener's connections: native, all of one size, passed on from a closed connection to
 * the next. There are never more than connections were open at a time. Safe for any thread.
 */
public final class IoBuffers {
    /** Bytes of each buffer. */
    public static final int BYTE_SIZE = 64 * 1024;

    /** Lives as long as the process: buffers pass from connection to connection and the last owner is not known. */
    private final Arena arena = Arena.global();

    private final ConcurrentLinkedDeque<ByteBuffer> free = new ConcurrentLinkedDeque<>();

    /** No buffers yet. */
    public IoBuffers() {}

    /** An empty buffer; its content is undefined. */
    public ByteBuffer take() {
        ByteBuffer buffer = free.pollFirst();
        if (buffer == null) {
            return arena.allocate(BYTE_SIZE, 64).asByteBuffer();
        }
        return buffer.clear();
    }

    /** Passes on a buffer that nobody uses any more. */
    public void give(ByteBuffer buffer) {
        free.addFirst(buffer);
    }
}
