// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.Forest.Quantity;
import gatun.memory.tensor.Datatype;
import java.lang.foreign.MemorySegment;

/** Asks a forest. For one thread at a time, which may be another each time. */
interface Predictor extends AutoCloseable {
    /** What the library's numbers are: FP32 or FP64. */
    Datatype datatype();

    /**
     * Asks about {@code count} rows (FP32 or FP64, at least 1), read in place. Returns {@code target} where the library
     * can write there, which must then have the very size of the numbers, else memory that is valid until this thread
     * asks again. The numbers lie row by row. Throws {@link gatun.memory.tensor.GatunException} when the library fails.
     */
    MemorySegment predict(Quantity quantity, MemorySegment rows, Datatype datatype, long count, MemorySegment target);

    @Override
    void close();
}
