// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import gatun.bindings.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** Finds out whether pieces of memory follow one another, so that together they are one tensor without being copied. */
public final class SideBySide {
    private SideBySide() {}

    /**
     * The memory of all {@code pieces} as one; empty when there is a gap somewhere, or some are on the heap. Valid for
     * as long as each of the pieces is, which the caller must see to.
     *
     * @param pieces at least one, in order
     */
    public static Optional<MemorySegment> join(List<MemorySegment> pieces) {
        long begin = pieces.getFirst().address();
        long end = begin;
        for (int i = 0; i < pieces.size(); i++) {
            MemorySegment piece = pieces.get(i);
            if (!piece.isNative() || piece.address() != end) {
                return Optional.empty();
            }
            end += piece.byteSize();
        }
        return Optional.of(NativeMemory.segment(begin, end - begin));
    }
}
