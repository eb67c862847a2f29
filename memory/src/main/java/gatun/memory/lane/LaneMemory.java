// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.bindings.Futex;
import gatun.memory.lane.SlotLayout.SlotState;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The words of a lane that both sides touch. Borrows the memory. Every access is safe for any thread; which side may
 * make it, each method tells. What the other side wrote is only data: no method trusts it with an address.
 *
 * <p>Who submits writes an entry and then looks whether the server sleeps; the server says that it will sleep and then
 * looks for entries. All four accesses are volatile, so that one of the two always sees the other. An answer and the
 * client's sleep meet in the same way.
 */
public final class LaneMemory {
    /** Stands at the beginning of every lane, {@code GATUNLAN} in ASCII. */
    public static final long MAGIC = 0x4e414c4e55544147L;
    /** The version of the layout. */
    public static final int VERSION = 1;

    // The head. What is written while the lane is used has cache lines of its own: pairs are fetched together.
    private static final long VERSION_OFFSET = 8;
    private static final long SLOTS_OFFSET = 12;
    private static final long TENSORS_OFFSET = 16;
    private static final long SLOT_BYTES_OFFSET = 20;
    private static final long RING_OFFSET = 24;
    private static final long FIRST_SLOT_OFFSET = 32;
    private static final long DATA_OFFSET = 40;
    private static final long DATA_BYTES_OFFSET = 48;
    private static final long SERVER_BELL = 1024;
    private static final long SERVER_ASLEEP = 1152;
    private static final long PRODUCER = 1280;

    private static final VarHandle INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final MemorySegment segment;
    private final long address;
    private final long ring;
    private final int ringMask;
    private final long slots;
    private final long slotByteSize;

    /**
     * The lane in {@code segment}.
     *
     * @throws IndexOutOfBoundsException when it is too small for that
     */
    public LaneMemory(MemorySegment segment, LaneGeometry geometry) {
        this.segment = segment.asSlice(0, geometry.byteSize());
        this.address = segment.address();
        this.ring = geometry.ringOffset();
        this.ringMask = geometry.ringEntries() - 1;
        this.slots = geometry.slotsOffset();
        this.slotByteSize = geometry.slotByteSize();
    }

    /** Writes the head of a new lane, for programs that look at it. For who made the memory. */
    public void writeHead(LaneGeometry geometry) {
        setInt(VERSION_OFFSET, VERSION);
        setInt(SLOTS_OFFSET, geometry.slots());
        setInt(TENSORS_OFFSET, geometry.tensors());
        setInt(SLOT_BYTES_OFFSET, (int) geometry.slotByteSize());
        setLong(RING_OFFSET, geometry.ringOffset());
        setLong(FIRST_SLOT_OFFSET, geometry.slotsOffset());
        setLong(DATA_OFFSET, geometry.dataOffset());
        setLong(DATA_BYTES_OFFSET, geometry.dataByteSize());
        LONG.setRelease(segment, 0L, MAGIC);
    }

    /** All of the lane. */
    public MemorySegment segment() {
        return segment;
    }

    /** Where slot {@code slot} begins. */
    public long slotOffset(int slot) {
        return slots + slot * slotByteSize;
    }

    // The ring

    /** Submits an entry, and wakes the server where it sleeps. For the client. */
    public void submit(int entry) {
        int at = (int) INT.getAndAdd(segment, PRODUCER, 1) & ringMask;
        INT.setVolatile(segment, ring + (long) Integer.BYTES * at, entry);
        if ((int) INT.getVolatile(segment, SERVER_ASLEEP) != 0 && (int) INT.getAndSet(segment, SERVER_ASLEEP, 0) != 0) {
            INT.getAndAdd(segment, SERVER_BELL, 1);
            Futex.wake(address + SERVER_BELL);
        }
    }

    /** The entry at a position, which only the server counts; 0 when there is none yet. For the server. */
    public int entry(int position) {
        return (int) INT.getVolatile(segment, entryOffset(position));
    }

    /** Frees an entry that was read. For the server. */
    public void clearEntry(int position) {
        INT.setRelease(segment, entryOffset(position), 0);
    }

    private long entryOffset(int position) {
        return ring + (long) Integer.BYTES * (position & ringMask);
    }

    // The server's sleep

    /** The address of the word that the server sleeps on. */
    public long serverBellAddress() {
        return address + SERVER_BELL;
    }

    /** The value of that word; to be read before {@link #sayServerSleeps}. For the server. */
    public int serverBell() {
        return (int) INT.getVolatile(segment, SERVER_BELL);
    }

    /** Says that the server is about to sleep; it looks for entries once more afterwards. For the server. */
    public void sayServerSleeps() {
        if ((int) INT.getVolatile(segment, SERVER_ASLEEP) != 1) {
            INT.setVolatile(segment, SERVER_ASLEEP, 1);
        }
    }

    // The states of slots

    /** The state of a slot, and with it what the other side wrote before. */
    public int state(int slot) {
        return (int) INT.getVolatile(segment, slotOffset(slot) + SlotLayout.STATE);
    }

    /** Changes the state of a slot after its content was written. For the client, which then submits it or leaves it. */
    public void state(int slot, int state) {
        INT.setVolatile(segment, slotOffset(slot) + SlotLayout.STATE, state);
    }

    /** Publishes an answer, and wakes the client where it sleeps; returns whether it did. For the server. */
    public boolean answer(int slot, int state) {
        long offset = slotOffset(slot);
        INT.setVolatile(segment, offset + SlotLayout.STATE, state);
        if ((int) INT.getVolatile(segment, offset + SlotLayout.CLIENT_ASLEEP) == 0) {
            return false;
        }
        INT.setVolatile(segment, offset + SlotLayout.CLIENT_ASLEEP, 0);
        Futex.wake(address + offset + SlotLayout.STATE);
        return true;
    }

    /** Ends the wait for an answer that will not come. For the client, when the connection has ended. */
    public void lose(int slot) {
        long offset = slotOffset(slot);
        INT.compareAndSet(segment, offset + SlotLayout.STATE, SlotState.FILLED, SlotState.LOST);
        Futex.wake(address + offset + SlotLayout.STATE);
    }

    /**
     * Sleeps until a slot is answered, or {@code nanos} have passed, or for no reason. For the client, on a platform
     * thread.
     *
     * @param timespec as for {@link Futex#await(long, int, long, MemorySegment)}
     */
    public void awaitAnswer(int slot, long nanos, MemorySegment timespec) {
        if (sayClientSleeps(slot)) {
            Futex.await(address + slotOffset(slot) + SlotLayout.STATE, SlotState.FILLED, nanos, timespec);
        }
    }

    /** Says that the client is about to sleep; returns whether there is still no answer, so that it may. */
    boolean sayClientSleeps(int slot) {
        long offset = slotOffset(slot);
        INT.setVolatile(segment, offset + SlotLayout.CLIENT_ASLEEP, 1);
        return (int) INT.getVolatile(segment, offset + SlotLayout.STATE) == SlotState.FILLED;
    }

    /** Whether the client said that it sleeps, and nobody has woken it since. */
    boolean isClientAsleep(int slot) {
        return (int) INT.getVolatile(segment, slotOffset(slot) + SlotLayout.CLIENT_ASLEEP) != 0;
    }

    // The content of slots, ordered by the states

    /** A 32-bit field. */
    public int getInt(long offset) {
        return (int) INT.get(segment, offset);
    }

    /** Writes a 32-bit field. */
    public void setInt(long offset, int value) {
        INT.set(segment, offset, value);
    }

    /** A 64-bit field. */
    public long getLong(long offset) {
        return (long) LONG.get(segment, offset);
    }

    /** Writes a 64-bit field. */
    public void setLong(long offset, long value) {
        LONG.set(segment, offset, value);
    }

    /** Copies {@code count} 64-bit fields from {@code offset} on. */
    public void getLongs(long offset, long[] target, int count) {
        MemorySegment.copy(segment, ValueLayout.JAVA_LONG, offset, target, 0, count);
    }

    /** Writes {@code count} 64-bit fields from {@code offset} on. */
    public void setLongs(long offset, long[] source, int count) {
        MemorySegment.copy(source, 0, segment, ValueLayout.JAVA_LONG, offset, count);
    }

    /** Copies {@code count} bytes from {@code offset} on. */
    public void getBytes(long offset, byte[] target, int count) {
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, offset, target, 0, count);
    }

    /** Writes bytes from {@code offset} on. */
    public void setBytes(long offset, byte[] source, int count) {
        MemorySegment.copy(source, 0, segment, ValueLayout.JAVA_BYTE, offset, count);
    }
}
