// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.bindings.Errno;
import gatun.bindings.NativeMemory;
import gatun.bindings.SystemCallException;
import gatun.memory.buffers.CoreCaches.BufferStack;
import gatun.memory.buffers.PoolSpace.Slab;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.threads.Stripes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The address space of a {@link BufferPool}, of which it makes buffers when none of the wanted size is idle.
 * Thread-safe. Reserves many times the limit at once, because sizes are rounded up and incoming buffers have their
 * whole size early; a page costs memory from its first use on. Idle buffers keep their pages while all buffers together
 * have at most twice the limit.
 */
final class BufferBlocks implements Buffer.Owner {
    /** Buffers from this size on have their own block; smaller ones share a {@link PoolSpace.Slab} of this size. */
    static final int SLAB_SHIFT = 16;

    /** Enough for a slab of each small size, however low the limit is. */
    private static final int LEAST_SHIFT = 20;

    /** As many of the largest blocks are usually enough; when there are more, idle ones are given up. */
    private static final int USUAL_BLOCKS = 2;

    /** How many of the largest blocks there may be, where the system has so much address space. */
    private static final int MOST_BLOCKS = 128;

    private static final int MOST_RESERVED_SHIFT = 42;

    private final CoreCaches caches;
    private final BufferStack[] stacks;
    private final BufferTable buffers;
    private final int largestShift;
    private final PoolSpace space;
    private final long base;

    /** Guards {@link #blocks}, the slabs, and changes of {@link #buffers}. No system call is made under it. */
    private final ReentrantLock lock = new ReentrantLock();

    private final BuddyBlocks blocks;

    /** Bytes of all buffers and slabs, lent or idle. Changed under the lock. */
    private final AtomicLong madeBytes = new AtomicLong();

    private int collection;
    private final BufferTrimmer trimmer = new BufferTrimmer(this::trim);
    private final AtomicBoolean trimming = new AtomicBoolean();
    private volatile int trimPass;

    /** How much from {@link #base} on is locked; 0 while nothing is. */
    private volatile long lockedBytes;

    private volatile @Nullable Hold locked;

    /** @param setting as in {@link BufferPool#withReserve}; empty if unknown */
    BufferBlocks(
            long byteLimit,
            String setting,
            CoreCaches caches,
            BufferStack[] stacks,
            BufferTable buffers,
            LongFunction<PoolSpace> spaces) {
        this.caches = caches;
        this.stacks = stacks;
        this.buffers = buffers;
        this.largestShift = largestShift(byteLimit);
        this.space = reserve(byteLimit, setting, spaces);
        this.base = space.base();
        this.blocks = new BuddyBlocks(SLAB_SHIFT, largestShift, (int) (space.byteSize() >>> largestShift));
    }

    /** How much of the address space incoming buffers may have, so that all others find theirs. */
    long claimLimit() {
        return Math.max(space.byteSize() - ((long) USUAL_BLOCKS << largestShift), space.byteSize() / 2);
    }

    PoolSpace space() {
        return space;
    }

    private static int largestShift(long byteLimit) {
        return Math.max(LEAST_SHIFT, Buffer.shift(byteLimit));
    }

    /** As much as the system gives: it may limit the address space, or count what is reserved as used. */
    static PoolSpace reserve(long byteLimit, String setting, LongFunction<PoolSpace> spaces) {
        int largestShift = largestShift(byteLimit);
        long byteSize = Math.max(
                (long) USUAL_BLOCKS << largestShift,
                Math.min((long) MOST_BLOCKS << largestShift, 1L << MOST_RESERVED_SHIFT));
        while (true) {
            try {
                return spaces.apply(byteSize);
            } catch (SystemCallException e) {
                if (e.is(Errno.ENOMEM) && byteSize > (long) USUAL_BLOCKS << largestShift) {
                    byteSize >>= 1;
                    continue;
                }
                String advice = e.is(Errno.ENOMEM) && !setting.isEmpty() ? "; choose a smaller " + setting : "";
                throw new GatunException(
                        ErrorCode.INTERNAL,
                        "the system does not let a buffer pool of " + byteLimit + " bytes reserve its address space"
                                + advice,
                        e);
            }
        }
    }

    /** A buffer of {@code 1 << shift} bytes that nobody holds, or null when the address space has no such run left. */
    @Nullable
    Buffer take(int shift) {
        if (shift >= SLAB_SHIFT && trimming.compareAndSet(false, true)) {
            trimmer.start();
        }
        lock.lock();
        try {
            // Another thread may have made some while this one waited for the lock.
            Buffer idle = stacks[shift].pop(buffers);
            Buffer buffer = idle == null ? make(shift) : idle;
            if (buffer == null) {
                joinIdle();
                buffer = make(shift);
            }
            return buffer;
        } finally {
            lock.unlock();
        }
    }

    /** Replaces a buffer by {@link Buffer#reissued}. */
    Buffer reissue(Buffer buffer) {
        Buffer reissued = buffer.reissued();
        lock.lock();
        try {
            buffers.put(reissued);
        } finally {
            lock.unlock();
        }
        return reissued;
    }

    @Override
    public void takeBack(Buffer buffer, long charged) {
        if (charged > 0
                && buffer.shift <= CoreCaches.LARGEST_SHIFT
                && caches.keep(Stripes.current(), buffer, charged)) {
            return;
        }
        buffer.idleSince = trimPass;
        stacks[buffer.shift].push(buffer);
        if (oversized()) {
            shrink();
        }
        if (charged > 0) {
            caches.uncharge(charged);
        }
    }

    /** Frees large buffers idle since the round before last, and their blocks. One thread, never a request's. */
    void trim() {
        int pass = trimPass;
        for (int shift = SLAB_SHIFT; shift <= largestShift; shift++) {
            List<Buffer> cold = new ArrayList<>();
            Deque<Buffer> warm = new ArrayDeque<>();
            for (int number = stacks[shift].popAll(); number != BufferStack.NO_BUFFER; ) {
                Buffer buffer = buffers.get(number);
                number = buffer.below;
                if (buffer.idleSince < pass) {
                    cold.add(buffer);
                } else {
                    warm.push(buffer);
                }
            }
            // The latest one is on top again.
            warm.forEach(stacks[shift]::push);
            cold.forEach(this::discard);
        }
        trimPass = pass + 1;
    }

    /** Locks the first {@code byteSize} bytes, rounded up to a power of two: blocks are taken from there first. */
    void lockFor(CudaDevice device, long byteSize) {
        long bytes = Math.min(1L << largestShift, 1L << Math.max(SLAB_SHIFT, Buffer.shift(byteSize)));
        lockedBytes = bytes; // before, so that nothing is given up meanwhile
        try {
            locked = device.lock(NativeMemory.segment(base, bytes));
        } catch (RuntimeException e) {
            lockedBytes = 0;
            throw e;
        }
    }

    /** 0 while nothing is locked. */
    long lockedBytes() {
        return lockedBytes;
    }

    private void discard(Buffer buffer) {
        discardPages(buffer);
        lock.lock();
        try {
            giveBack(buffer.offset, buffer.shift);
            buffers.remove(buffer);
        } finally {
            lock.unlock();
        }
    }

    /** Gives the pages of a buffer back to the system. Of a slab's buffer they stay. */
    void discardPages(Buffer buffer) {
        // Of what is locked a GPU would go on to use the pages that were given up.
        if (buffer.shift >= SLAB_SHIFT && buffer.offset >= lockedBytes) {
            space.discard(buffer.offset, 1L << buffer.shift);
        }
    }

    /** Whether there are more buffers than usual, so that idle ones are to be given up. */
    private boolean oversized() {
        return madeBytes.get() > (long) USUAL_BLOCKS << largestShift;
    }

    /** Gives idle buffers up, the largest first, until there are not more than usual. */
    private void shrink() {
        for (int shift = largestShift; shift >= SLAB_SHIFT; shift--) {
            while (oversized()) {
                Buffer buffer = stacks[shift].pop(buffers);
                if (buffer == null) {
                    break;
                }
                discard(buffer);
            }
        }
    }

    private void giveBack(long offset, int shift) {
        assert lock.isHeldByCurrentThread();
        blocks.give(offset, shift);
        madeBytes.addAndGet(-(1L << shift));
    }

    /** Returns when no memory is being given back any more, and none will be. */
    void stopTrimming() {
        trimmer.close();
    }

    /** Gives the address space back; no buffer is lent and none will be. */
    void unmap() {
        Hold lock = locked;
        if (lock != null) {
            lock.close();
        }
        space.release();
    }

    private @Nullable Buffer make(int shift) {
        if (shift > largestShift) {
            return null;
        }
        long offset = blocks.take(Math.max(shift, SLAB_SHIFT));
        if (offset == BuddyBlocks.NONE) {
            return null;
        }
        madeBytes.addAndGet(1L << Math.max(shift, SLAB_SHIFT));
        if (shift >= SLAB_SHIFT) {
            return add(shift, offset, null);
        }
        Slab slab = new Slab(offset, 1 << (SLAB_SHIFT - shift));
        for (int i = slab.count - 1; i > 0; i--) {
            stacks[shift].push(add(shift, offset + ((long) i << shift), slab));
        }
        return add(shift, offset, slab);
    }

    private Buffer add(int shift, long offset, @Nullable Slab slab) {
        Buffer buffer = new Buffer(this, buffers.reserve(), shift, base, offset, slab);
        buffers.put(buffer);
        return buffer;
    }

    /** Takes apart all idle buffers, so that their memory can become buffers of another size. */
    private void joinIdle() {
        caches.empty();
        for (int shift = Buffer.SMALLEST_SHIFT; shift <= largestShift; shift++) {
            int top = stacks[shift].popAll();
            if (shift >= SLAB_SHIFT) {
                joinBlocks(top);
            } else {
                joinSlabs(top, stacks[shift]);
            }
        }
    }

    private void joinBlocks(int top) {
        for (int number = top; number != BufferStack.NO_BUFFER; ) {
            Buffer buffer = buffers.get(number);
            number = buffer.below;
            giveBack(buffer.offset, buffer.shift);
            buffers.remove(buffer);
        }
    }

    private void joinSlabs(int top, BufferStack stack) {
        collection++;
        for (int number = top; number != BufferStack.NO_BUFFER; number = buffers.get(number).below) {
            slab(buffers.get(number)).countIdle(collection);
        }
        for (int number = top; number != BufferStack.NO_BUFFER; ) {
            Buffer buffer = buffers.get(number);
            number = buffer.below;
            Slab slab = slab(buffer);
            if (!slab.allIdle()) {
                stack.push(buffer);
                continue;
            }
            if (buffer.offset == slab.offset) {
                giveBack(slab.offset, SLAB_SHIFT);
            }
            buffers.remove(buffer);
        }
    }

    private static Slab slab(Buffer buffer) {
        return Objects.requireNonNull(buffer.slab);
    }

    /** A pool's buffers by number, from 1. Look-ups are thread-safe; changes guarded by the pool's lock. */
    static final class BufferTable {
        private volatile @Nullable Buffer[] buffers = new @Nullable Buffer[64];
        private int next = 1;
        private int[] unused = new int[64];
        private int unusedCount;

        Buffer get(int number) {
            return Objects.requireNonNull(buffers[number]);
        }

        int reserve() {
            if (unusedCount > 0) {
                return unused[--unusedCount];
            }
            @Nullable Buffer[] present = buffers;
            if (next == present.length) {
                buffers = Arrays.copyOf(present, present.length * 2);
            }
            return next++;
        }

        void put(Buffer buffer) {
            buffers[buffer.number] = buffer;
        }

        /** Forgets a buffer without holders. Keeps the entry, which a reader of an old stack top may still look at. */
        void remove(Buffer buffer) {
            if (unusedCount == unused.length) {
                unused = Arrays.copyOf(unused, unused.length * 2);
            }
            unused[unusedCount++] = buffer.number;
        }
    }
}
