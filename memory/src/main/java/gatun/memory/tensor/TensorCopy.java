// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import gatun.bindings.LibraryCache;
import gatun.bindings.StreamingCopy;
import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Copies the bytes of tensors in the way that suits their size. Safe for any thread. */
public final class TensorCopy {
    /** From here on copies bypass the caches: tensors of this size fill the last, and evict themselves. */
    static final long STREAMING_BYTES = 8L << 20;

    private TensorCopy() {}

    /** Opened by the first large copy: a start makes small ones alone. */
    private static final class Streaming {
        static final @Nullable StreamingCopy COPY =
                StreamingCopy.open(LibraryCache.ofUser()).orElse(null);
    }

    /**
     * Copies all of {@code source} to the beginning of {@code target}; where they overlap, as if by way of a third
     * place. Neither may lie in a mapping that can fault.
     *
     * @throws IndexOutOfBoundsException when the target is smaller
     */
    public static void copy(MemorySegment source, MemorySegment target) {
        StreamingCopy streaming = source.byteSize() >= STREAMING_BYTES ? Streaming.COPY : null;
        if (streaming != null && areApart(source, target)) {
            copyPastCaches(streaming, source, target);
        } else {
            CooperativeCopy.copy(source, target);
        }
    }

    private static void copyPastCaches(StreamingCopy streaming, MemorySegment source, MemorySegment target) {
        long byteSize = source.byteSize();
        for (long at = 0; at < byteSize; at += CooperativeYield.COPY_STEP) {
            long piece = Math.min(CooperativeYield.COPY_STEP, byteSize - at);
            streaming.copy(source.asSlice(at, piece), target.asSlice(at, piece));
            CooperativeYield.now();
        }
    }

    private static boolean areApart(MemorySegment source, MemorySegment target) {
        return source.isNative()
                && target.isNative()
                && source.asOverlappingSlice(target).isEmpty();
    }
}
