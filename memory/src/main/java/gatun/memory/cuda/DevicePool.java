// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import gatun.bindings.cuda.cuda_h;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lends the memory of one GPU up to a limit, and keeps returned memory for the next buffers: CUDA takes long to
 * allocate, and waits for the whole GPU when it frees. Safe for any thread whose current device is this one; buffers
 * may be closed by any thread at all.
 */
public final class DevicePool {
    /** The smallest block; up to {@link #LARGE} a block is a power of two. */
    private static final long GRANULE = 512;

    /** From here on sizes are rounded up to a multiple of this: 2 MiB, the page of a GPU. */
    private static final long LARGE = 2L << 20;

    private final CudaDevice device;
    /** What errors advise; empty if unknown. */
    private volatile String advice = "";

    /** Guards everything below. No call of CUDA is made under it. */
    private final ReentrantLock lock = new ReentrantLock();

    private final TreeMap<Long, Deque<Long>> idle = new TreeMap<>();
    private long byteLimit;
    private long allocatedBytes;
    private long lentBytes;

    DevicePool(CudaDevice device, long byteLimit) {
        this.device = device;
        this.byteLimit = byteLimit;
    }

    /**
     * Limits the bytes allocated, lent or idle; all of the GPU's memory at first. Lent memory stays lent. Throws
     * IllegalArgumentException for a negative limit.
     */
    public void limit(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(
                    "the pool of " + device + " is limited to " + bytes + " bytes: expected 0 or more");
        }
        lock.lock();
        try {
            byteLimit = bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Has errors name the setting of the limit, as the operator calls it. */
    public void nameLimit(String setting) {
        advice = "start the server with a larger " + setting;
    }

    /** How much may be allocated at a time, in bytes. */
    public long byteLimit() {
        lock.lock();
        try {
            return byteLimit;
        } finally {
            lock.unlock();
        }
    }

    /** How much is lent now, in bytes, rounded up as it is allocated. */
    public long lentBytes() {
        lock.lock();
        try {
            return lentBytes;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lends {@code byteSize} bytes, aligned to 512 at least, with undefined content. Throws UNAVAILABLE when there is
     * no room now, INVALID_ARGUMENT when there never could be.
     */
    public DeviceBuffer take(long byteSize) {
        long block = rounded(byteSize);
        List<Long> victims = new ArrayList<>();
        Long address;
        boolean room;
        lock.lock();
        try {
            if (block > byteLimit) {
                throw GatunException.invalidArgument(byteSize + " bytes of " + device
                        + " were asked for, more than the limit of its pool, " + byteLimit
                        + " bytes" + (advice.isEmpty() ? "" : "; " + advice));
            }
            address = pop(block);
            if (address == null) {
                makeRoom(block, victims);
            }
            room = allocatedBytes <= byteLimit - (address == null ? block : 0);
            if (room) {
                lentBytes += block;
                allocatedBytes += address == null ? block : 0;
            }
        } finally {
            lock.unlock();
        }
        victims.forEach(this::free);
        if (!room) {
            throw noRoom(byteSize);
        }
        return new DeviceBuffer(this, device.ordinal(), address == null ? allocate(block) : address, block, byteSize);
    }

    /** Gives the memory that is not lent back to the GPU. */
    public void trim() {
        List<Long> victims = new ArrayList<>();
        lock.lock();
        try {
            makeRoom(Long.MAX_VALUE, victims);
        } finally {
            lock.unlock();
        }
        victims.forEach(this::free);
    }

    void takeBack(long address, long block) {
        lock.lock();
        try {
            lentBytes -= block;
            idle.computeIfAbsent(block, size -> new ArrayDeque<>()).push(address);
        } finally {
            lock.unlock();
        }
    }

    /** An idle block of that very size; null when there is none. Under the lock. */
    private @Nullable Long pop(long block) {
        Deque<Long> blocks = idle.get(block);
        return blocks == null ? null : blocks.poll();
    }

    /** Frees idle blocks, largest first, until {@code block} bytes more would fit. Under the lock. */
    private void makeRoom(long block, List<Long> victims) {
        while (!idle.isEmpty() && allocatedBytes > byteLimit - block) {
            Map.Entry<Long, Deque<Long>> largest = idle.lastEntry();
            Long victim = largest.getValue().poll();
            if (victim == null) {
                idle.remove(largest.getKey());
            } else {
                victims.add(victim);
                allocatedBytes -= largest.getKey();
            }
        }
    }

    private long allocate(long block) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(cuda_h.C_LONG);
            int result = cuda_h.cuMemAlloc_v2(out, block);
            if (result == cuda_h.CUDA_ERROR_OUT_OF_MEMORY()) {
                trim();
                result = cuda_h.cuMemAlloc_v2(out, block);
            }
            device.check(result, "cuMemAlloc of " + block + " bytes");
            return out.get(cuda_h.C_LONG, 0);
        } catch (RuntimeException e) {
            lock.lock();
            try {
                lentBytes -= block;
                allocatedBytes -= block;
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private void free(long address) {
        // Fails with a device that failed, whose memory is lost until the process ends.
        cuda_h.cuMemFree_v2(address);
    }

    private GatunException noRoom(long byteSize) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "the pool of " + device + " has no " + byteSize + " bytes left of its " + byteLimit
                        + "; try again later" + (advice.isEmpty() ? "" : ", or " + advice));
    }

    private static long rounded(long byteSize) {
        if (byteSize > Long.MAX_VALUE - LARGE) {
            return Long.MAX_VALUE; // more than any limit
        }
        if (byteSize >= LARGE) {
            return (byteSize + LARGE - 1) / LARGE * LARGE;
        }
        return byteSize <= GRANULE ? GRANULE : Long.highestOneBit(byteSize - 1) << 1;
    }

    /** Memory of a GPU, lent by its {@link DevicePool}. To be closed when nothing on the GPU uses it any more. */
    public static final class DeviceBuffer implements Hold {
        private final DevicePool pool;
        private final long address;
        private final long blockBytes;
        private final DeviceMemory memory;
        private final AtomicBoolean closed = new AtomicBoolean();

        DeviceBuffer(DevicePool pool, int device, long address, long blockBytes, long byteSize) {
            this.pool = pool;
            this.address = address;
            this.blockBytes = blockBytes;
            this.memory = new DeviceMemory(device, address, byteSize);
        }

        /** The memory, of exactly the size that was asked for, with undefined content; valid until this is closed. */
        public DeviceMemory memory() {
            return memory;
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                pool.takeBack(address, blockBytes);
            }
        }
    }
}
