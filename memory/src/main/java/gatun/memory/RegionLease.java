package gatun.memory;

import java.lang.foreign.MemorySegment;

/**
 * The right of one request to use a window of a registered region. The region stays mapped while it is held.
 */
public interface RegionLease extends Hold {
    /** The window's memory, of exactly the size that was borrowed. */
    MemorySegment segment();

    /**
     * To be called after the last use of the memory and before the request is answered: makes what was written visible to the
     * client and finds out whether the client took the memory away meanwhile. Called again for each further response where a
     * request has several.
     *
     * @throws GatunException INVALID_ARGUMENT when the region broke, so that what was read or written means nothing
     */
    void settle();
}
