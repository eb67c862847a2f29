// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** Fills tensors that no client has sent. Without state. */
final class MadeUpElements {
    private MadeUpElements() {}

    /**
     * Fills a tensor of elements of fixed size; leaves datatypes alone that no request brings.
     *
     * @param whole gives elements that are whole numbers, whose low bits count, and truth values
     * @param real gives floating point numbers
     */
    static void fill(MemorySegment bytes, Datatype datatype, LongSupplier whole, DoubleSupplier real) {
        long count = datatype.isFixedSize() ? bytes.byteSize() / datatype.byteSize() : 0;
        for (long i = 0; i < count; i++) {
            switch (datatype) {
                case BOOL -> bytes.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) (whole.getAsLong() & 1));
                case INT8, UINT8 -> bytes.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) whole.getAsLong());
                case INT16, UINT16 -> bytes.setAtIndex(ElementLayouts.INT16, i, (short) whole.getAsLong());
                case INT32, UINT32 -> bytes.setAtIndex(ElementLayouts.INT32, i, (int) whole.getAsLong());
                case INT64, UINT64 -> bytes.setAtIndex(ElementLayouts.INT64, i, whole.getAsLong());
                case FP16 ->
                    bytes.setAtIndex(ElementLayouts.INT16, i, Float.floatToFloat16((float) real.getAsDouble()));
                case BF16 -> bytes.setAtIndex(ElementLayouts.INT16, i, bfloat16((float) real.getAsDouble()));
                case FP32 -> bytes.setAtIndex(ElementLayouts.FP32, i, (float) real.getAsDouble());
                case FP64 -> bytes.setAtIndex(ElementLayouts.FP64, i, real.getAsDouble());
                default -> {}
            }
        }
    }

    private static short bfloat16(float value) {
        return (short) (Float.floatToRawIntBits(value) >>> Short.SIZE);
    }
}
