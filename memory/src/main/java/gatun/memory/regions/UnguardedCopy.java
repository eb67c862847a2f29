// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;

/**
 * The one place that touches a mapping which nothing keeps from faulting. The JVM turns such a fault into an
 * {@link InternalError}, and this class turns that into an error response.
 */
final class UnguardedCopy {
    /** A copy cannot be stopped for the garbage collector, so a large one is done in pieces. */
    private static final long PIECE_BYTES = CooperativeYield.COPY_STEP;

    private UnguardedCopy() {}

    /**
     * Copies {@code source} to {@code target} of the same size, of which one lies in {@code mapping}.
     *
     * @throws GatunException INVALID_ARGUMENT when the mapping's object was truncated meanwhile; the content of the
     *     target is undefined then
     */
    static void copy(MemorySegment source, MemorySegment target, String region, RegionMapping mapping) {
        try {
            long byteSize = source.byteSize();
            for (long at = 0; at < byteSize; at += PIECE_BYTES) {
                MemorySegment.copy(source, at, target, at, Math.min(PIECE_BYTES, byteSize - at));
                if (byteSize > PIECE_BYTES) {
                    CooperativeYield.now();
                }
            }
            // The error may be delivered late, at the next return from native code: this is one, and looks again
            // itself.
            mapping.checkUsable();
        } catch (InternalError e) {
            // Nothing else fails so here: this is how the JVM tells of a fault.
            throw RegionErrors.broken(region);
        }
    }
}
