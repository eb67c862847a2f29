// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import gatun.memory.tensor.GatunException;

/**
 * Where the parts of a lane's memory are. From the beginning: the head, a page; the ring of numbers of slots; the slots;
 * and on a page of its own the data, room for tensors. Immutable.
 *
 * @param slots how many requests may be under way at a time; a power of two
 * @param tensors how many inputs and outputs together each request may have
 * @param dataByteSize room for tensors, in bytes; may be 0, since tensors may lie in registered regions
 */
public record LaneGeometry(int slots, int tensors, long dataByteSize) {
    /** The most slots of a lane. */
    public static final int MAX_SLOTS = 256;
    /** The most tensors of a request. */
    public static final int MAX_TENSORS = 64;
    /** The most room for tensors, in bytes. */
    public static final long MAX_DATA_BYTE_SIZE = 1L << 40;

    /** Entries of the ring for each slot: a slot is in it at most twice, once to go on and once to be given up. */
    private static final int ENTRIES_PER_SLOT = 4;

    private static final long PAGE = 4096;
    private static final long CACHE_LINE = 64;

    /**
     * Checks the numbers.
     *
     * @throws GatunException INVALID_ARGUMENT when one of them is none that a lane can have
     */
    public LaneGeometry {
        if (slots < 1 || slots > MAX_SLOTS || Integer.bitCount(slots) != 1) {
            throw GatunException.invalidArgument(
                    "a lane of " + slots + " slots: expected a power of two, " + MAX_SLOTS + " at most");
        }
        if (tensors < 1 || tensors > MAX_TENSORS) {
            throw GatunException.invalidArgument(
                    "a lane for " + tensors + " tensors in a request: expected 1 to " + MAX_TENSORS);
        }
        if (dataByteSize < 0 || dataByteSize > MAX_DATA_BYTE_SIZE) {
            throw GatunException.invalidArgument("a lane with room for " + Long.toUnsignedString(dataByteSize)
                    + " bytes of tensors: expected " + MAX_DATA_BYTE_SIZE + " at most");
        }
    }

    /** Entries of the ring, a power of two. */
    public int ringEntries() {
        return ENTRIES_PER_SLOT * slots;
    }

    /** Where the ring begins. */
    public long ringOffset() {
        return PAGE;
    }

    /** Where the slots begin. */
    public long slotsOffset() {
        return aligned(PAGE + (long) Integer.BYTES * ringEntries(), CACHE_LINE);
    }

    /** Bytes of a slot, a multiple of the cache line. */
    public long slotByteSize() {
        return SlotLayout.TENSORS + tensors * SlotLayout.TENSOR_BYTES;
    }

    /** Where slot {@code slot} begins. */
    public long slotOffset(int slot) {
        return slotsOffset() + slot * slotByteSize();
    }

    /** Where the data begins, on a page. */
    public long dataOffset() {
        return aligned(slotsOffset() + slots * slotByteSize(), PAGE);
    }

    /** Bytes of the whole lane. */
    public long byteSize() {
        return dataOffset() + dataByteSize;
    }

    private static long aligned(long offset, long unit) {
        return (offset + unit - 1) / unit * unit;
    }
}
