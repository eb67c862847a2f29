// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.SharedFile;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the server and one worker process share: request memory, of which the server makes blocks that the
 * worker gives back, and response memory, of which the worker makes blocks that the server gives back. It ends with the
 * process, and is unmapped when the last response that lies in it has been sent. Safe for any thread.
 */
public final class WorkerMemory implements AutoCloseable {
    /** Of response memory, so much may have come back without the worker being told. */
    private static final long UNTOLD_SHARE = 64;

    /** Of so few blocks, with so few bytes, the worker need not be told yet. */
    private static final int FEW_BLOCKS = 32;

    private static final long FEW_BYTES = 1 << 16;

    private final String owner;
    private final BufferPool requests;
    private final SharedFile responses;
    private final long responseLimit;
    private final ConcurrentHashMap<Long, Buffer> placed = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Long> returned = new ConcurrentLinkedQueue<>();
    private final AtomicLong returnedBytes = new AtomicLong();
    private final AtomicInteger returnedBlocks = new AtomicInteger();
    private volatile Runnable onReturned = () -> {};

    /** Those who read response memory, and the worker itself. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final AtomicBoolean closed = new AtomicBoolean();

    /** With at most so many bytes of requests, and of responses, at a time. Throws when the system refuses. */
    public WorkerMemory(String owner, long byteLimit) {
        this.owner = owner;
        responseLimit = byteLimit;
        requests = BufferPool.shared("gatun-requests", byteLimit);
        try {
            responses = SharedFile.create("gatun-responses", byteLimit);
        } catch (RuntimeException e) {
            requests.close();
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the system does not let instance '" + owner + "' have shared memory for responses of " + byteLimit
                            + " bytes; choose a smaller limit",
                    e);
        }
    }

    /** With response memory that the worker has made, and this owns. Throws when the system refuses. */
    public WorkerMemory(String owner, long byteLimit, SharedFile responses) {
        this.owner = owner;
        this.responses = responses;
        responseLimit = byteLimit;
        try {
            requests = BufferPool.shared("gatun-requests", byteLimit);
        } catch (RuntimeException e) {
            responses.close();
            throw e;
        }
    }

    /** The file of request memory. */
    public SharedFile requestFile() {
        return requests.file();
    }

    /** The file of response memory. */
    public SharedFile responseFile() {
        return responses;
    }

    /**
     * Copies bytes to a block of request memory, the worker's until it is {@linkplain #takeBack given back}; returns
     * its offset. Throws UNAVAILABLE when there is no room, or the process has ended.
     */
    public long place(MemorySegment bytes) {
        Buffer block;
        try {
            block = requests.copyOf(bytes);
        } catch (GatunException e) {
            if (closed.get()) {
                throw ended();
            }
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "Failed to increase the shared memory pool size of model instance '" + owner + "': its "
                            + requests.byteLimit() + " bytes for requests have no room for " + bytes.byteSize()
                            + " more; its model still holds earlier tensors, or memory-byte-size is too small",
                    e);
        }
        placed.put(block.offset(), block);
        if (closed.get()) {
            takeBack(block.offset());
        }
        return block.offset();
    }

    private GatunException ended() {
        return new GatunException(ErrorCode.UNAVAILABLE, "the process of instance '" + owner + "' has ended");
    }

    /** Ends the worker's use of a block of request memory; one that it does not have is passed over. */
    public void takeBack(long offset) {
        Buffer block = placed.remove(offset);
        if (block != null) {
            block.close();
        }
    }

    /** How many blocks of request memory the worker has. */
    public int placedCount() {
        return placed.size();
    }

    /** Keeps response memory mapped until closed, once, though the process end. Throws UNAVAILABLE when it is gone. */
    public Hold use() {
        if (users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw ended();
        }
        return this::release;
    }

    /** A block of response memory in {@linkplain #use use}. Throws {@link MalformedFrameException} for none. */
    public MemorySegment response(long offset, long byteSize) {
        try {
            return responses.segment(offset, byteSize);
        } catch (IndexOutOfBoundsException e) {
            throw new MalformedFrameException(noBlock(), e);
        }
    }

    /** Throws {@link MalformedFrameException} unless response memory has such a block. */
    public void requireResponse(long offset, long byteSize) {
        if (offset < 0 || byteSize < 0 || offset > responseLimit - byteSize) {
            throw new MalformedFrameException(noBlock());
        }
    }

    private String noBlock() {
        return "the process of instance '" + owner + "' names memory that it does not have";
    }

    /** A claim on response memory, returned to the worker when closed. For callers with the memory in use. */
    public Hold hold(long offset, long byteSize) {
        users.incrementAndGet();
        return () -> {
            giveBack(offset, byteSize);
            release();
        };
    }

    /** Called when much was freed that the worker does not know yet: it may wait for it. Must not block. */
    public void onReturned(Runnable action) {
        onReturned = action;
    }

    /** Gives a block of response memory back; the worker is told by the next {@link #drainReturned}. */
    public void giveBack(long offset, long byteSize) {
        returned.add(offset);
        returnedBlocks.incrementAndGet();
        long untold = returnedBytes.addAndGet(byteSize);
        long most = responseLimit / UNTOLD_SHARE;
        if (untold >= most && untold - byteSize < most) {
            onReturned.run();
        }
    }

    /** The blocks of response memory that were given back since the last call. */
    public List<Long> drainReturned() {
        if (returned.isEmpty()) {
            return List.of();
        }
        List<Long> drained = new ArrayList<>();
        returnedBytes.set(0);
        returnedBlocks.set(0);
        for (Long offset = returned.poll(); offset != null; offset = returned.poll()) {
            drained.add(offset);
        }
        return drained;
    }

    /** As {@link #drainReturned}, but none while they are few: to tell of each costs a small run more than it is worth. */
    public List<Long> drainReturnedMany() {
        long bytes = returnedBytes.get();
        boolean few = returnedBlocks.get() < FEW_BLOCKS && bytes < FEW_BYTES && bytes < responseLimit / UNTOLD_SHARE;
        return few ? List.of() : drainReturned();
    }

    private void release() {
        if (users.decrementAndGet() == 0) {
            responses.close();
        }
    }

    /** Notes that the process has ended: the blocks that it had are free. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        List.copyOf(placed.keySet()).forEach(this::takeBack);
        requests.close();
        release();
    }
}
