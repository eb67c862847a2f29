// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.bindings.NativeMemory;
import gatun.memory.buffers.CoreCaches.BufferStack;
import gatun.memory.buffers.PoolSpace.Slab;
import gatun.memory.tensor.Hold;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Native memory lent by a {@link BufferPool}, aligned to 64 bytes. Whoever took it closes it once, from any thread,
 * after the last use of its memory; handing it to another thread needs the usual safe publication.
 *
 * <p>The object is lent again together with its memory, so a holder forgets it on closing. A second close that comes
 * before the next loan does nothing; one that comes later would end somebody else's loan. With assertions enabled each
 * loan is an object of its own, a second close or a use after closing fails, and the content is overwritten on closing,
 * so that tests find such mistakes.
 */
public final class Buffer implements Hold {
    /** Whether assertions are enabled, so that each loan is checked. */
    static final boolean CHECKED = Buffer.class.desiredAssertionStatus();

    /** The smallest block holds {@code 1 << SMALLEST_SHIFT} bytes. */
    static final int SMALLEST_SHIFT = 8;

    /** Sizes are counted in multiples of this. */
    static final long GRANULE = 1L << SMALLEST_SHIFT;

    /** How much of a buffer is overwritten when assertions are enabled. */
    private static final long POISONED_BYTES = 4096;

    private static final byte POISON = (byte) 0xDB;
    private static final int IDLE = 0;
    private static final int LENT = 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Buffer.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Keep what one core writes for each loan off the lines that another reads for its own: buffers are made in a row.
    long unused0;
    long unused1;
    long unused2;
    long unused3;
    long unused4;
    long unused5;
    long unused6;
    long unused7;
    final int number;
    /** The block holds {@code 1 << shift} bytes. */
    final int shift;
    /** Where the block starts in the pool's address space. */
    final long offset;
    /** The page run that the block is a part of, when it is smaller than one. */
    final @Nullable Slab slab;
    /** The number of the buffer below in a {@link BufferStack}; written by whoever owns the buffer. */
    int below;
    /** The {@link BufferBlocks#trimPass} in which it became idle; written by whoever owns the buffer. */
    int idleSince;

    private final Owner owner;
    private final long address;
    private MemorySegment segment;
    private volatile int state;

    Buffer(Owner owner, int number, int shift, long base, long offset, @Nullable Slab slab) {
        this.owner = owner;
        this.number = number;
        this.shift = shift;
        this.offset = offset;
        this.slab = slab;
        this.address = base + offset;
        this.segment = NativeMemory.segment(address, 1L << shift);
    }

    /** The block size for {@code byteSize}, as a power of two. */
    static int shift(long byteSize) {
        return byteSize <= GRANULE ? SMALLEST_SHIFT : Long.SIZE - Long.numberOfLeadingZeros(byteSize - 1);
    }

    static long charge(long byteSize) {
        return Math.max(GRANULE, (byteSize + GRANULE - 1) & -GRANULE);
    }

    /** The same block as a loan of its own, so that the previous holder cannot touch it. */
    Buffer reissued() {
        return new Buffer(owner, number, shift, address - offset, offset, slab);
    }

    /** Begins a loan of {@code byteSize} bytes. Makes a new segment only when the previous loan was of another size. */
    void lend(long byteSize) {
        if (segment.byteSize() != byteSize) {
            segment = NativeMemory.segment(address, byteSize);
        }
        STATE.setRelease(this, LENT);
    }

    /** The memory, of the requested size; its content is undefined at first. Valid until {@link #close}. */
    public MemorySegment segment() {
        assert state == LENT : "the buffer was used after it was closed";
        return segment;
    }

    /** Where the memory starts; a multiple of 64. For native calls that take no segment. */
    public long address() {
        assert state == LENT : "the buffer was used after it was closed";
        return address;
    }

    /** Offset in the pool's address space, and so in the {@linkplain BufferPool#file file} of a shared one. */
    public long offset() {
        return offset;
    }

    /** The size that was asked for, in bytes. */
    public long byteSize() {
        return segment().byteSize();
    }

    @Override
    public void close() {
        // Read before the buffer may be another's.
        long charged = charge(segment.byteSize());
        if (endLoan()) {
            owner.takeBack(this, charged);
        }
    }

    /** Ends the loan; what it has been charged is the caller's to uncharge afterwards. */
    void closeUncharged() {
        if (endLoan()) {
            owner.takeBack(this, 0);
        }
    }

    private boolean endLoan() {
        if (CHECKED && state == LENT) {
            segment.asSlice(0, Math.min(segment.byteSize(), POISONED_BYTES)).fill(POISON);
        }
        boolean ended = STATE.compareAndSet(this, LENT, IDLE);
        assert ended : "the buffer was closed twice";
        return ended;
    }

    /** Takes buffers back whose loans have ended. */
    interface Owner {
        /** Takes back a buffer without holders, charged {@code charged}; if 0, it stays mapped until uncharged. */
        void takeBack(Buffer buffer, long charged);
    }
}
