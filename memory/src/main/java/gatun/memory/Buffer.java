package gatun.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Native memory lent by a {@link BufferPool}, aligned to 64 bytes. Whoever holds it closes it once, from any thread.
 */
public final class Buffer implements Hold {
    private final Arena arena;
    private final MemorySegment segment;
    private final Runnable onClose;
    private final AtomicBoolean closed = new AtomicBoolean();

    Buffer(Arena arena, MemorySegment segment, Runnable onClose) {
        this.arena = arena;
        this.segment = segment;
        this.onClose = onClose;
    }

    /** The memory, of exactly the size that was asked for; its content is undefined at first. */
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            arena.close();
            onClose.run();
        }
    }
}
