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
     * Asks for {@code quantity} of some rows, which are read where they are.
     *
     * @param rows one row of features after the other
     * @param datatype FP32 or FP64
     * @param count how many rows there are; at least 1
     * @param target where the numbers may go if the library can write there: of the very size that they need, else empty
     * @return where the numbers are, one row's after the other's: {@code target}, or memory that is valid until this
     *     thread asks the forest again
     * @throws gatun.memory.tensor.GatunException when the library fails
     */
    MemorySegment predict(Quantity quantity, MemorySegment rows, Datatype datatype, long count, MemorySegment target);

    @Override
    void close();
}
