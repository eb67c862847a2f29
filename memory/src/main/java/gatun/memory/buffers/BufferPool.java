// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import gatun.memory.buffers.CoreCaches.BufferStack;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.memory.metrics.MetricSink.Measure;
import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.Stripes;
import gatun.memory.threads.Stripes.PaddedLong;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/**
 * Lends native memory up to a limit. Safe for any thread; neither taking nor closing waits, asks the system for memory,
 * or makes garbage, as long as sizes recur.
 *
 * <p>A size is rounded up to the next power of two, from 256 bytes on, which decides the buffer's block; what counts
 * against the limit is the size itself, rounded up to 256. Address space is reserved once. A page costs memory from its
 * first use on, and idle blocks are used again before fresh ones are; the memory of large ones that stay idle goes back
 * to the system after half a minute to a minute.
 */
public final class BufferPool implements AutoCloseable, MetricSource {
    private static final List<Measure<BufferPool>> MEASURES = List.of(
            Measure.gauge(
                    "gatun_buffer_pool_total_bytes",
                    "The most bytes that requests and responses may occupy at a time",
                    BufferPool::byteLimit),
            Measure.gauge(
                    "gatun_buffer_pool_used_bytes",
                    "Bytes that requests and responses occupy now",
                    BufferPool::usedBytes),
            Measure.gauge(
                    "nv_pinned_memory_pool_total_bytes",
                    "How much of the buffer pool is locked in memory where there are GPUs, in bytes",
                    BufferPool::lockLimit),
            Measure.gauge(
                    "nv_pinned_memory_pool_used_bytes",
                    "Bytes of the buffer pool's locked memory that are lent now",
                    BufferPool::lockedUsedBytes));

    private static final long GREATEST_LIMIT = 1L << 44;

    /** Buffers up to this size may take what is reserved for small ones. */
    static final long SMALL_BYTES = 64 << 10;

    private static final int RESERVE_SHARE = 16;

    /** Least time between two runs of the actions of {@link #onShortage(Runnable)}. */
    private static final long SHORTAGE_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long LARGEST_RESERVE = 16 << 20;

    private final long byteLimit;
    /** What the operator calls the limit; empty if unknown. */
    private final String setting;

    private final long chargeLimit;
    private final long reserve;
    /** Counts the lent bytes, each loan rounded up to {@link Buffer#GRANULE}. */
    private final CoreCaches caches;

    /** The bytes of the blocks of incoming buffers. */
    private final PaddedLong claimed = new PaddedLong();

    private final AtomicBoolean unmapped = new AtomicBoolean();
    private final BufferTable buffers = new BufferTable();
    private final BufferStack[] idle = new BufferStack[Long.SIZE];
    private final BufferBlocks blocks;
    private final IncomingBuffers incoming;
    private volatile long lockLimit;
    private final List<Runnable> onShortage = new CopyOnWriteArrayList<>();
    private final AtomicLong shortNanos = new AtomicLong(System.nanoTime() - SHORTAGE_INTERVAL_NANOS - 1);

    /**
     * A pool that has at most {@code byteLimit} bytes lent at a time, to buffers of any size.
     *
     * @throws IllegalArgumentException for less than a byte or more than 16 TiB
     * @throws GatunException when the system refuses the address space
     */
    public BufferPool(long byteLimit) {
        this(byteLimit, "");
    }

    /**
     * The same.
     *
     * @param setting what the operator calls the limit, for errors
     */
    public BufferPool(long byteLimit, String setting) {
        this(byteLimit, setting, 0, System::nanoTime, PoolSpace::ofProcess);
    }

    /**
     * As {@link #BufferPool(long, String)}, but a sixteenth of the limit, 16 MiB at most, is for buffers of up to 64
     * KiB, so that small requests are answered while large ones take all the rest.
     */
    public static BufferPool withReserve(long byteLimit, String setting) {
        return withReserve(byteLimit, setting, PoolSpace::ofProcess);
    }

    private static BufferPool withReserve(long byteLimit, String setting, LongFunction<PoolSpace> spaces) {
        return new BufferPool(
                byteLimit, setting, Math.min(byteLimit / RESERVE_SHARE, LARGEST_RESERVE), System::nanoTime, spaces);
    }

    /** As {@link #withReserve}, whose memory is a {@link #file} named {@code name} that other processes map too. */
    public static BufferPool sharedWithReserve(String name, long byteLimit, String setting) {
        return withReserve(byteLimit, setting, byteSize -> PoolSpace.shared(name, byteSize));
    }

    /**
     * As {@link #BufferPool(long)}, whose memory is a {@link #file} named {@code name} that other processes map too.
     * What they write there is seen here at once.
     */
    public static BufferPool shared(String name, long byteLimit) {
        return new BufferPool(byteLimit, "", 0, System::nanoTime, byteSize -> PoolSpace.shared(name, byteSize));
    }

    /** As {@link #shared}, in {@code file}, which it owns, made by {@link #newFile} with the same limit. */
    public static BufferPool in(SharedFile file, long byteLimit) {
        return new BufferPool(byteLimit, "", 0, System::nanoTime, byteSize -> PoolSpace.of(file));
    }

    /**
     * The file, named {@code name}, of a pool in another process, which may be of another user. Throws {@link
     * GatunException} when the system refuses the address space.
     */
    public static SharedFile newFile(String name, long byteLimit) {
        return BufferBlocks.reserve(byteLimit, "", byteSize -> PoolSpace.shared(name, byteSize))
                .file()
                .orElseThrow();
    }

    /** A pool whose incoming buffers are timed by {@code nanoClock}. */
    BufferPool(long byteLimit, long reserve, LongSupplier nanoClock) {
        this(byteLimit, "", reserve, nanoClock, PoolSpace::ofProcess);
    }

    private BufferPool(
            long byteLimit, String setting, long reserve, LongSupplier nanoClock, LongFunction<PoolSpace> spaces) {
        if (byteLimit < 1 || byteLimit > GREATEST_LIMIT) {
            throw new IllegalArgumentException(
                    "the limit of a buffer pool is " + byteLimit + " bytes: expected 1 to " + GREATEST_LIMIT);
        }
        this.byteLimit = byteLimit;
        this.setting = setting;
        this.chargeLimit = Buffer.charge(byteLimit);
        this.lockLimit = byteLimit;
        this.reserve = reserve & -Buffer.GRANULE;
        for (int i = 0; i < idle.length; i++) {
            idle[i] = new BufferStack();
        }
        this.caches = new CoreCaches(Stripes.count(), chargeLimit, buffers, idle, this::unmap);
        this.blocks = new BufferBlocks(byteLimit, setting, caches, idle, buffers, spaces);
        this.incoming = new IncomingBuffers(this, nanoClock);
    }

    /**
     * Lends {@code byteSize} bytes, aligned to 64, with undefined content. Returns at once, also when there is no room.
     *
     * @throws GatunException UNAVAILABLE when the pool has no room now, INVALID_ARGUMENT when it never could
     * @throws IllegalArgumentException for a negative size
     */
    public Buffer take(long byteSize) {
        requirePossible(byteSize);
        long charge = Buffer.charge(byteSize);
        int shift = Buffer.shift(byteSize);
        if (shift <= CoreCaches.LARGEST_SHIFT) {
            Buffer cached = caches.take(Stripes.current(), shift, charge, limit(byteSize));
            if (cached != null) {
                return lend(cached, byteSize);
            }
        }
        if (!charge(charge, byteSize) && !incoming.charge(charge, byteSize, null)) {
            throw noRoom(byteSize);
        }
        try {
            return takeBlock(byteSize);
        } catch (GatunException e) {
            uncharge(charge);
            throw e;
        }
    }

    /**
     * Lends memory for {@code byteSize} bytes that are on their way from {@code sender}. At first only
     * {@code firstByteSize} of them count against the limit, and the others as they come.
     *
     * @param firstByteSize how many bytes have come or may come at once
     * @param onEvicted is told the reason when the memory was taken away because the sender is slow, to wake the
     *     receiving thread; called by any thread, once at most, perhaps a moment after the buffer was closed; must
     *     neither wait nor throw
     * @throws GatunException UNAVAILABLE when the pool has no room now, INVALID_ARGUMENT when it never could
     * @throws IllegalArgumentException for a negative size
     */
    public IncomingBuffer receive(
            long byteSize, long firstByteSize, ClientQuotaKey sender, Consumer<String> onEvicted) {
        requirePossible(byteSize);
        long first = Buffer.charge(Math.min(byteSize, firstByteSize));
        if (byteSize > SMALL_BYTES && !incoming.admits(byteSize)) {
            throw noRoom(byteSize);
        }
        if (!charge(first, first) && !incoming.charge(first, first, null)) {
            throw noRoom(byteSize);
        }
        try {
            IncomingBuffer buffer = new IncomingBuffer(this, incoming, sender, onEvicted, claim(byteSize), first);
            incoming.add(buffer);
            return buffer;
        } catch (GatunException e) {
            uncharge(first);
            throw e;
        }
    }

    /**
     * Has {@code giveUp} run when a caller finds no room, on that caller's thread and ten times a second at most: to
     * free the memory that is held for clients that {@linkplain SlowReaderDetector read too slowly}. It must neither wait nor
     * throw.
     */
    public void onShortage(Runnable giveUp) {
        onShortage.add(giveUp);
    }

    /** Takes incoming buffers from senders that have {@linkplain IncomingBuffer#endWhenStalled all but stopped}. */
    public void endStalled() {
        incoming.endStalled();
    }

    private void requirePossible(long byteSize) {
        if (byteSize < 0) {
            throw new IllegalArgumentException("a buffer of " + byteSize + " bytes was asked for: expected 0 or more");
        }
        if (byteSize > largestByteSize()) {
            throw GatunException.invalidArgument(
                    "a buffer of " + byteSize + " bytes is more than the pool's limit of " + largestByteSize()
                            + " bytes" + (setting.isEmpty() ? "" : "; start the server with a larger " + setting));
        }
    }

    /**
     * Takes a buffer for an incoming one, charged by the caller. Its block counts against the address space of incoming
     * buffers until {@link #unclaim}: bytes announced that do not come must not take the space of others.
     */
    Buffer claim(long byteSize) {
        long block = claimedBytes(Buffer.shift(byteSize));
        if (block > 0 && claimed.addAndGet(block) > blocks.claimLimit()) {
            claimed.addAndGet(-block);
            // The memory that this frees comes too late for the present call.
            incoming.evictLatest();
            throw noRoom(byteSize);
        }
        try {
            return takeBlock(byteSize);
        } catch (GatunException e) {
            claimed.addAndGet(-block);
            throw e;
        }
    }

    /** Ends the claim of a buffer that is received no more. */
    void unclaim(Buffer buffer) {
        claimed.addAndGet(-claimedBytes(buffer.shift));
    }

    /** Small buffers share slabs, which are few. */
    private static long claimedBytes(int shift) {
        return shift < BufferBlocks.SLAB_SHIFT ? 0 : 1L << shift;
    }

    /** A buffer that is charged by the caller. */
    Buffer takeBlock(long byteSize) {
        int shift = Buffer.shift(byteSize);
        Buffer buffer = idle[shift].pop(buffers);
        if (buffer == null) {
            buffer = caches.steal(shift);
        }
        if (buffer == null) {
            buffer = blocks.take(shift);
            if (buffer == null) {
                // The memory that this frees comes too late for the present call.
                incoming.evictLatest();
                throw noRoom(byteSize);
            }
        }
        return lend(buffer, byteSize);
    }

    private Buffer lend(Buffer idle, long byteSize) {
        Buffer buffer = Buffer.CHECKED ? blocks.reissue(idle) : idle;
        buffer.lend(byteSize);
        return buffer;
    }

    /** A private copy of {@code source}, which nobody else changes. Otherwise as {@link #take}. */
    public Buffer copyOf(MemorySegment source) {
        Buffer copy = take(source.byteSize());
        try {
            TensorCopy.copy(source, copy.segment());
            return copy;
        } catch (Throwable t) {
            copy.close();
            throw t;
        }
    }

    /**
     * A buffer of at least {@code byteSize} bytes that begins with the first {@code usedBytes} of {@code buffer}:
     * itself when it is as large, else one that is at least twice as large where the pool's limit allows, so that
     * growing often stays cheap. Closes {@code buffer} when it returns another, and leaves it open when it fails;
     * otherwise as {@link #take}.
     */
    public Buffer grow(Buffer buffer, long usedBytes, long byteSize) {
        long room = buffer.byteSize();
        if (byteSize <= room) {
            return buffer;
        }
        Buffer larger = take(Math.max(byteSize, Math.min(largestByteSize(), 2 * room)));
        CooperativeCopy.copy(buffer.segment(), 0, larger.segment(), 0, usedBytes);
        buffer.close();
        return larger;
    }

    /**
     * Limits what {@link #lockFor} locks to {@code byteSize} bytes, 0 for nothing; as much as may be lent at a time
     * unless this is called. Call it before the pool is used.
     *
     * @throws IllegalArgumentException for a negative size
     */
    public void limitLocked(long byteSize) {
        if (byteSize < 0) {
            throw new IllegalArgumentException(byteSize + " bytes were to be locked: expected 0 or more");
        }
        lockLimit = Math.min(byteSize, byteLimit);
    }

    /**
     * Locks {@link #lockLimit} bytes, so that GPUs copy from buffers and to them without help from the processor; that
     * much memory is occupied from now on. Buffers that lie beyond are copied as any other memory.
     *
     * @throws GatunException when the system does not let so much be locked; the pool goes on without
     */
    public void lockFor(CudaDevice device) {
        if (lockLimit > 0) {
            blocks.lockFor(device, lockLimit);
        }
    }

    /** The most bytes that are locked for GPUs, where there are some. */
    public long lockLimit() {
        return lockLimit;
    }

    /** What of the locked memory is lent, counted as {@link #usedBytes}; 0 while nothing is locked. */
    public long lockedUsedBytes() {
        return Math.min(usedBytes(), blocks.lockedBytes());
    }

    @Override
    public void publish(MetricSink sink) {
        sink.addAll(MEASURES, MetricRows.single(this));
    }

    /** The most bytes that may be lent at a time. */
    public long byteLimit() {
        return byteLimit;
    }

    /** The file that a shared pool lends the memory of. */
    public SharedFile file() {
        return blocks.space()
                .file()
                .orElseThrow(() -> new IllegalStateException("this pool's memory is the process's own"));
    }

    /** The most bytes that one buffer may have: what is reserved for small ones is not for it. */
    public long largestByteSize() {
        return byteLimit - reserve;
    }

    /** Bytes lent now, the size of each buffer rounded up to 256; of incoming ones what has come, or may come now. */
    public long usedBytes() {
        return caches.lentBytes();
    }

    /** Lends no more. The memory goes back to the system now, or with the last buffer that is still lent. */
    @Override
    public void close() {
        // Before anything can be unmapped.
        blocks.stopTrimming();
        caches.close();
    }

    /** One round of giving back the memory of large idle buffers. For the trimmer and for tests. */
    void trim() {
        blocks.trim();
    }

    /** Gives the pages of a buffer back to the system; its content is undefined then. */
    void discardPages(Buffer buffer) {
        blocks.discardPages(buffer);
    }

    /** Charges {@code charge} more bytes for a buffer of {@code byteSize}. Changes nothing when there is no room. */
    boolean charge(long charge, long byteSize) {
        return caches.charge(charge, limit(byteSize));
    }

    /** Bytes that buffers of {@code byteSize} may still take; below 0 when small ones took from the reserve. */
    long freeBytes(long byteSize) {
        return limit(byteSize) - usedBytes();
    }

    /** No more than {@link #freeBytes}, and known without a look at what other cores write. */
    long surelyFreeBytes(long byteSize) {
        return limit(byteSize) - caches.countedBytes();
    }

    private long limit(long byteSize) {
        return byteSize <= SMALL_BYTES ? chargeLimit : chargeLimit - reserve;
    }

    void uncharge(long charge) {
        caches.uncharge(charge);
    }

    private void unmap() {
        if (unmapped.compareAndSet(false, true)) {
            blocks.unmap();
        }
    }

    /** The failure of a caller that asks for {@code byteSize} bytes that are not free now. */
    GatunException noRoom(long byteSize) {
        long now = System.nanoTime();
        long last = shortNanos.get();
        if (now - last > SHORTAGE_INTERVAL_NANOS && shortNanos.compareAndSet(last, now)) {
            onShortage.forEach(Runnable::run);
        }
        String text = caches.isClosed()
                ? "the buffer pool is closed because the server is stopping"
                : "the buffer pool has no " + byteSize + " bytes left of its " + byteLimit + "; try again later";
        return new GatunException(ErrorCode.UNAVAILABLE, text);
    }
}
