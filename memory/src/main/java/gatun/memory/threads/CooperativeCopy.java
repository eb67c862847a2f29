// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import java.lang.foreign.MemorySegment;

/** Copies and fills memory in pieces, yielding the carrier between them. Not to be called under a lock. */
public final class CooperativeCopy {
    private static final int STEP = CooperativeYield.COPY_STEP;

    private CooperativeCopy() {}

    /** As {@link MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)}, ranges may overlap too. */
    public static void copy(
            MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long byteSize) {
        if (byteSize <= STEP) {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, byteSize);
            return;
        }
        // Where the target lies higher, the last piece comes first: it may lie on what is not copied yet.
        boolean backwards = target.address() + targetOffset > source.address() + sourceOffset;
        for (long done = 0; done < byteSize; done += STEP) {
            long piece = Math.min(STEP, byteSize - done);
            long at = backwards ? byteSize - done - piece : done;
            MemorySegment.copy(source, sourceOffset + at, target, targetOffset + at, piece);
            CooperativeYield.now();
        }
    }

    /** Copies all of {@code source} to the beginning of {@code target}. */
    public static void copy(MemorySegment source, MemorySegment target) {
        copy(source, 0, target, 0, source.byteSize());
    }

    /** Sets all bytes of {@code target} to zero. */
    public static void clear(MemorySegment target) {
        long byteSize = target.byteSize();
        for (long at = 0; at < byteSize; at += STEP) {
            target.asSlice(at, Math.min(STEP, byteSize - at)).fill((byte) 0);
            if (byteSize > STEP) {
                CooperativeYield.now();
            }
        }
    }
}
