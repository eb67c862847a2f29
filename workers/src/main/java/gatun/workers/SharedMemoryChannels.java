// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.bindings.SystemCallException;
import gatun.memory.buffers.SharedFile;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The mailboxes of a worker, in one file of memory that both sides map from the worker's start on. A mailbox costs
 * memory from its first use on. The file is unmapped when this and all mailboxes are closed. Thread-safe.
 */
public final class SharedMemoryChannels implements AutoCloseable {
    /** The most of a worker. */
    public static final int MOST = 4096;

    private final SharedFile file;

    /** Channels that are not closed, and the owner. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final AtomicBoolean closed = new AtomicBoolean();

    private SharedMemoryChannels(SharedFile file) {
        this.file = file;
    }

    /** New ones, for the server's side. Throws {@link GatunException} UNAVAILABLE when the system refuses. */
    public static SharedMemoryChannels create() {
        try {
            return new SharedMemoryChannels(SharedFile.create("gatun-mailboxes", MOST * SharedMemoryChannel.BYTE_SIZE));
        } catch (SystemCallException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE, "the system refuses memory to talk to a worker: " + e.getMessage(), e);
        }
    }

    /** The same for the worker's side, which owns {@code file} from now on. */
    public static SharedMemoryChannels of(SharedFile file) {
        return new SharedMemoryChannels(file);
    }

    /** What the worker maps. */
    public SharedFile file() {
        return file;
    }

    /**
     * The mailbox of a number below {@link #MOST}, closed by the caller; not after {@link #close}. Each side looks for
     * its turn for {@code spinNanos} before it sleeps. {@code tuning} learns how the server waits best.
     */
    public SharedMemoryChannel mailbox(int number, long spinNanos, Tuning tuning) {
        Objects.checkIndex(number, MOST);
        users.incrementAndGet();
        return new SharedMemoryChannel(
                file.segment(number * SharedMemoryChannel.BYTE_SIZE, SharedMemoryChannel.BYTE_SIZE),
                this::release,
                spinNanos,
                tuning);
    }

    private void release() {
        if (users.decrementAndGet() == 0) {
            file.close();
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            release();
        }
    }
}
