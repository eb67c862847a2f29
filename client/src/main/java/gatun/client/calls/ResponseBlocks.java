// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reused blocks of native memory, whose first use costs most. The JDK's arenas need no permission for native access, of
 * which a program would be warned. Idle large ones are freed. Thread-safe.
 */
final class ResponseBlocks {
    /** The JDK's largest blocks, which it zeroes; larger ones come from the system, page by page. */
    private static final long MOST_AT_ONCE = 16 << 20;

    /** Blocks from this size on are freed when they are idle. */
    private static final long LARGE = 64 << 10;

    private static final long ALIGNMENT = 64;
    private static final int SMALLEST_SHIFT = 8;
    private static final int LARGEST_SHIFT = 48;
    /** Sizes between two powers of two, so that a block is at most a quarter larger than what was asked for. */
    private static final int STEP_SHIFT = 2;

    private static final int STEPS = 1 << STEP_SHIFT;

    /** A block that was idle through one whole period is freed at the end of the next. */
    private final Executor afterPeriod;

    private final List<Deque<Block>> idle = new ArrayList<>();
    private final AtomicBoolean trimming = new AtomicBoolean();
    /** Counts the periods; changed by {@link #trim} alone. */
    private volatile int period;
    /** Whether the JVM's limit of native memory was reached. */
    private volatile boolean beyondLimit;

    ResponseBlocks() {
        this(CompletableFuture.delayedExecutor(30, TimeUnit.SECONDS));
    }

    /** {@code afterPeriod} runs tasks one period later, on a thread that may be busy for milliseconds. */
    ResponseBlocks(Executor afterPeriod) {
        this.afterPeriod = afterPeriod;
        for (int number = 0; number <= (LARGEST_SHIFT - SMALLEST_SHIFT) * STEPS; number++) {
            idle.add(new ConcurrentLinkedDeque<>());
        }
    }

    /** A lent block. {@code free} throws IllegalStateException while it is in use; null if garbage-collected. */
    record Block(int size, MemorySegment memory, @Nullable Runnable free, int idleSince) {}

    /** A block of undefined content. Throws {@link GatunException} when neither the JVM nor the system has memory. */
    Block take(long byteSize) {
        int size = size(byteSize);
        Block block = idle.get(size).poll();
        return block == null ? make(size) : block;
    }

    void give(Block block) {
        idle.get(block.size()).push(new Block(block.size(), block.memory(), block.free(), period));
        if (block.free() != null && trimming.compareAndSet(false, true)) {
            afterPeriod.execute(this::trim);
        }
    }

    static int size(long byteSize) {
        if (byteSize <= 1L << SMALLEST_SHIFT) {
            return 0;
        }
        int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(byteSize - 1);
        int step = (int) ((byteSize - 1) >>> (shift - STEP_SHIFT)) & (STEPS - 1);
        return 1 + (shift - SMALLEST_SHIFT) * STEPS + step;
    }

    static long byteSize(int size) {
        if (size == 0) {
            return 1L << SMALLEST_SHIFT;
        }
        int shift = SMALLEST_SHIFT + (size - 1) / STEPS;
        return (STEPS + 1L + (size - 1) % STEPS) << (shift - STEP_SHIFT);
    }

    private Block make(int size) {
        long byteSize = byteSize(size);
        if (byteSize <= MOST_AT_ONCE && !beyondLimit) {
            try {
                return byteSize < LARGE
                        ? new Block(size, Arena.ofAuto().allocate(byteSize, ALIGNMENT), null, 0)
                        : makeLarge(size, byteSize);
            } catch (OutOfMemoryError e) {
                beyondLimit = true;
            }
        }
        Buffer buffer = Beyond.POOL.take(byteSize);
        return new Block(size, buffer.segment(), buffer::close, 0);
    }

    private static Block makeLarge(int size, long byteSize) {
        Arena arena = Arena.ofShared();
        try {
            return new Block(size, arena.allocate(byteSize, ALIGNMENT), arena::close, 0);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    /** Blocks from the system, with the JVM's warning of native access: large ones, and beyond its limit. */
    private static final class Beyond {
        static final BufferPool POOL = open();

        private static BufferPool open() {
            for (long limit = ClientMemory.limit(); ; limit /= 2) {
                try {
                    return new BufferPool(limit);
                } catch (GatunException e) {
                    if (limit <= LARGE || e.code() != ErrorCode.INTERNAL) {
                        throw e;
                    }
                }
            }
        }
    }

    /** Frees large blocks that were idle since before the last period, and comes again while there are others. */
    private void trim() {
        int now = period;
        for (int size = size(LARGE); size < idle.size(); size++) {
            Deque<Block> blocks = idle.get(size);
            List<Block> warm = new ArrayList<>();
            for (Block block = blocks.poll(); block != null; block = blocks.poll()) {
                if (block.idleSince() == now || !free(block)) {
                    warm.add(block);
                }
            }
            // The latest one is on top again.
            warm.reversed().forEach(blocks::push);
        }
        period = now + 1;
        trimming.set(false);
        if (hasLarge() && trimming.compareAndSet(false, true)) {
            afterPeriod.execute(this::trim);
        }
    }

    private boolean hasLarge() {
        return idle.subList(size(LARGE), idle.size()).stream().anyMatch(blocks -> !blocks.isEmpty());
    }

    /** False while a thread reads or writes a channel with a tensor of a response that was closed. */
    private static boolean free(Block block) {
        Runnable free = block.free();
        try {
            if (free != null) {
                free.run();
            }
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }
}
