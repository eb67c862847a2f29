// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A request's right to use a window of a registered region, which stays mapped while it is held. */
public interface RegionLease extends Hold {
    /**
     * The window's memory, of exactly the size that was borrowed, where the processor can use it. Of a window on a GPU
     * this is a copy in system memory, made by the first call; what is written to it goes to the GPU with
     * {@link #settle}.
     *
     * @throws GatunException when it cannot be copied
     */
    MemorySegment segment();

    /**
     * The first {@code byteSize} bytes of the window, all of which will be written: as {@link #segment}, but what a GPU
     * holds there need not be copied first.
     *
     * @throws GatunException when there is no memory for it
     */
    default MemorySegment target(long byteSize) {
        MemorySegment window = segment();
        return byteSize == window.byteSize() ? window : window.asSlice(0, byteSize);
    }

    /** Where the window lies on a GPU; empty for system memory. */
    default Optional<DeviceMemory> device() {
        return Optional.empty();
    }

    /** Whether a client can still change {@link #segment} and {@link #target}; false of private copies. */
    default boolean isShared() {
        return true;
    }

    /** The size that was borrowed, in bytes. Touches nothing. */
    default long byteSize() {
        return segment().byteSize();
    }

    /** The name of the region, for errors; empty for memory that is no region's. */
    default String region() {
        return "";
    }

    /** The object of the window, equal under all its names and mappings; private memory is its own. */
    default Object object() {
        return this;
    }

    /** Where the window begins in {@link #object}, in bytes. */
    default long objectOffset() {
        return 0;
    }

    /** Whether the window and {@code other} have a byte in common. Touches nothing. */
    default boolean overlaps(RegionLease other) {
        return objectOffset() < other.objectOffset() + other.byteSize()
                && other.objectOffset() < objectOffset() + byteSize()
                && byteSize() > 0
                && other.byteSize() > 0
                && object().equals(other.object());
    }

    /**
     * Borrows the same window anew after {@link #close}, by who borrowed it: it then holds the region again until it is
     * closed. Costs less than another lease.
     *
     * @return false where only another lease can do that, or tell why it is not possible any more
     */
    default boolean renew() {
        return false;
    }

    /**
     * To be called after the last use of the memory and before the request is answered: makes what was written visible
     * to the client and finds out whether the client took the memory away meanwhile. Called again for each further
     * response where a request has several.
     *
     * @throws GatunException INVALID_ARGUMENT when the region broke, so that what was read or written means nothing
     */
    void settle();
}
