package gatun.runtime.execution;

import gatun.memory.Buffer;
import gatun.memory.Hold;
import java.util.concurrent.atomic.AtomicInteger;

/** A pooled buffer whose pieces belong to several responses; it goes back when the last of them lets go. Safe for any thread. */
final class SharedBuffer {
    private final Buffer buffer;
    private final AtomicInteger users = new AtomicInteger(1);

    /** Owns {@code buffer}; its maker is the first user. */
    SharedBuffer(Buffer buffer) {
        this.buffer = buffer;
    }

    /** One more user, who closes the hold exactly once. */
    Hold share() {
        users.incrementAndGet();
        return this::release;
    }

    /** One user less. */
    void release() {
        if (users.decrementAndGet() == 0) {
            buffer.close();
        }
    }
}
