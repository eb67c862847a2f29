// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.threads.CooperativeCopy;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a {@link BufferPool} for bytes that are on their way from a client. The address range has the whole size
 * from the beginning, so that the bytes land once and lie together; only the bytes that {@link #room} has let in count
 * against the pool's limit, in steps that grow with the bytes that have come. While memory is short, a buffer whose
 * sender is slow loses it (see {@link IncomingBuffers}).
 *
 * <p>Owned by the receiving thread, which closes it once, after {@link #complete} too. {@link #pause} and
 * {@link #resume} may be called by any thread.
 */
public final class IncomingBuffer implements Hold {
    /** Result of {@link #beginEviction} when there is nothing to take away. */
    static final long TOO_LATE = -1;

    static final long LARGEST_STEP = 1 << 20;

    /** Bytes per second that a sender has to send at least while memory is short. */
    private static final long LEAST_RATE = SlowReaderDetector.LEAST_RATE;

    /** Seconds, about, within which a large body has to arrive while memory is short. */
    private static final long LEAST_RATE_SECONDS = 30;

    /** Bytes per second that a sender has to send at any time, where {@link #endWhenStalled} was called. */
    private static final long STALLED_RATE = 240;

    // Values of the state beside the number of charged bytes, which is 0 or more.
    private static final long EVICTING = -1;
    private static final long EVICTED = -2;
    private static final long CLOSED_WHILE_EVICTING = -3;
    private static final long MOVING = -4;
    private static final long ENDED = -5;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(IncomingBuffer.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final BufferPool pool;
    private final IncomingBuffers all;
    private final ClientQuotaKey sender;
    private final Consumer<String> onEvicted;
    private final long firstByteSize;

    /** Replaced by the receiving thread while the state is {@link #MOVING}. */
    private Buffer buffer;

    private volatile long byteSize;

    /** The bytes charged while they are received, or one of the constants: then nothing more is charged or evicted. */
    private volatile long state;

    /** When the sender fell behind, for {@link #lateNanos} and {@link #isStalled}; received bytes move both on. */
    private volatile long behindSince;

    private volatile long stalledSince;
    private volatile boolean paused;
    private volatile long stallLimitNanos = Long.MAX_VALUE;

    /** Why the memory was taken away; written before the state says so. */
    private @Nullable String evictionCause;

    /** {@code buffer}, of which {@code charged} bytes are charged and which is lent already. */
    IncomingBuffer(
            BufferPool pool,
            IncomingBuffers all,
            ClientQuotaKey sender,
            Consumer<String> onEvicted,
            Buffer buffer,
            long charged) {
        this.pool = pool;
        this.all = all;
        this.sender = sender;
        this.onEvicted = onEvicted;
        this.buffer = buffer;
        this.byteSize = buffer.byteSize();
        this.firstByteSize = charged;
        this.behindSince = all.now();
        this.stalledSince = behindSince;
        this.state = charged;
    }

    /** The memory of the whole size; what lies beyond {@link #room} must not be touched. Valid until {@link #close}. */
    public MemorySegment segment() {
        return buffer.segment();
    }

    /** The whole size, in bytes. */
    public long byteSize() {
        return byteSize;
    }

    /**
     * Up to where bytes may be written now; charges more when that is not beyond {@code offset}, the bytes written,
     * less than {@link #byteSize()}. Throws UNAVAILABLE when the pool has no room, or a slow sender lost the memory.
     */
    public long room(long offset) {
        long charged = state;
        if (charged >= 0 && charged <= offset) {
            long step = nextCharge(charged) - charged;
            if (!all.charge(step, charged + step, this)) {
                throw pool.noRoom(byteSize);
            }
            if (!STATE.compareAndSet(this, charged, charged + step)) {
                pool.uncharge(step);
            }
            charged = state;
        }
        requireHeld();
        return Math.min(charged, byteSize);
    }

    private long nextCharge(long charged) {
        long step = Math.clamp(charged, firstByteSize, Math.max(firstByteSize, LARGEST_STEP));
        return Math.min(Buffer.charge(byteSize), charged + step);
    }

    /** Notes that {@code count} more bytes have come. */
    public void received(long count) {
        long now = all.now();
        behindSince = caughtUp(behindSince, now, count, leastRate());
        stalledSince = caughtUp(stalledSince, now, count, STALLED_RATE);
    }

    private long leastRate() {
        return Math.max(LEAST_RATE, byteSize / LEAST_RATE_SECONDS);
    }

    /** Each byte makes up for the time that the rate gives it, and no more: nobody sends ahead. */
    private static long caughtUp(long since, long now, long count, long bytesPerSecond) {
        long bought = (long) ((double) count * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond);
        return since + Math.min(now - since, bought);
    }

    /** Has {@link BufferPool#endStalled} take it once the sender is below 240 bytes a second for {@code nanos}. */
    public void endWhenStalled(long nanos) {
        stallLimitNanos = nanos;
    }

    /** Notes that the sender may not send for now: this time does not count against it. */
    public void pause() {
        paused = true;
    }

    /** Notes that the sender may go on; does nothing when it was not paused. */
    public void resume() {
        if (paused) {
            behindSince = all.now();
            stalledSince = behindSince;
            paused = false;
        }
    }

    /** Grows to {@code byteSize} at least; moves the {@code written} bytes. Throws as {@link BufferPool#receive}. */
    public void grow(long written, long byteSize) {
        if (byteSize <= this.byteSize) {
            return;
        }
        Buffer larger = pool.claim(Math.max(byteSize, Math.min(pool.largestByteSize(), 2 * this.byteSize)));
        long charged = state;
        if (charged < 0 || !STATE.compareAndSet(this, charged, MOVING)) {
            giveBack(larger);
            requireHeld();
        }
        CooperativeCopy.copy(buffer.segment(), 0, larger.segment(), 0, written);
        Buffer smaller = buffer;
        buffer = larger;
        this.byteSize = larger.byteSize();
        state = charged;
        giveBack(smaller);
    }

    /** As {@link #complete(long)}, with the whole size. */
    public Buffer complete() {
        return complete(byteSize);
    }

    /**
     * Ends receiving: the first {@code byteSize} bytes are the caller's, and cannot be taken away any more. Throws
     * UNAVAILABLE when the memory was taken away before.
     */
    public Buffer complete(long byteSize) {
        long charged = state;
        if (charged < 0 || !STATE.compareAndSet(this, charged, ENDED)) {
            requireHeld();
            throw new IllegalStateException("the buffer was completed or closed before");
        }
        assert byteSize <= Math.max(charged, 0) : "bytes were written that are not charged";
        all.remove(this);
        buffer.lend(byteSize);
        pool.unclaim(buffer);
        pool.uncharge(charged - Buffer.charge(byteSize));
        return buffer;
    }

    /** Throws {@link GatunException} UNAVAILABLE when the memory was taken away because the sender is slow. */
    public void requireHeld() {
        long now = state;
        if (now == EVICTING || now == EVICTED) {
            throw new GatunException(ErrorCode.UNAVAILABLE, String.valueOf(evictionCause));
        }
    }

    /** Gives the memory back, unless it was completed. */
    @Override
    public void close() {
        while (true) {
            long now = state;
            if (now >= 0 && STATE.compareAndSet(this, now, ENDED)) {
                all.remove(this);
                release(now);
                return;
            }
            if (now == EVICTED) {
                state = ENDED;
                release(Buffer.GRANULE);
                return;
            }
            if (now == ENDED || (now == EVICTING && STATE.compareAndSet(this, now, CLOSED_WHILE_EVICTING))) {
                return;
            }
        }
    }

    private void release(long charged) {
        giveBack(buffer);
        pool.uncharge(charged);
    }

    private void giveBack(Buffer block) {
        block.closeUncharged();
        pool.unclaim(block);
    }

    // For IncomingBuffers.

    ClientQuotaKey sender() {
        return sender;
    }

    /** The bytes charged now; 0 when nothing can be taken away. */
    long evictableBytes() {
        return Math.max(0, state);
    }

    /** How many more bytes to expect: as many as announced, but a sender is believed only by what it has sent. */
    long expectedBytes() {
        long charged = evictableBytes();
        return Math.min(byteSize - charged, IncomingBuffers.TRUST * charged);
    }

    /** How far the sender is behind the rate that counts while memory is short. */
    long lateNanos(long now) {
        return paused ? 0 : now - behindSince;
    }

    /** Whether the sender is behind the rate that counts at any time, for longer than it may be. */
    boolean isStalled(long now) {
        return !paused && now - stalledSince > stallLimitNanos;
    }

    /** Why the memory of a stalled sender is taken away. */
    String stallCause() {
        return "the request was not sent on for " + TimeUnit.NANOSECONDS.toSeconds(stallLimitNanos)
                + " seconds; try again, and send it without a break";
    }

    /** Takes all but a granule; {@link #finishEviction} follows. Returns the freed bytes, or {@link #TOO_LATE}. */
    long beginEviction(String cause) {
        long charged = state;
        evictionCause = cause;
        if (charged < 0 || !STATE.compareAndSet(this, charged, EVICTING)) {
            return TOO_LATE;
        }
        return charged - Buffer.GRANULE;
    }

    /** Gives the pages back to the system and wakes the receiving thread, which may still write to some of them. */
    void finishEviction() {
        pool.discardPages(buffer);
        if (STATE.compareAndSet(this, EVICTING, EVICTED)) {
            onEvicted.accept(String.valueOf(evictionCause));
        } else {
            release(Buffer.GRANULE);
        }
    }
}
