// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * The values made around memory of others for one input or output of one instance, kept for the addresses and shapes
 * that come again: buffers of the pool and windows of regions do. A value is a raw address with a shape; it may outlive
 * the memory, since it is only ever used for a tensor that lies there now. Used by the instance's thread only. Owns its
 * values.
 */
final class ValueCache implements AutoCloseable {
    /** Direct mapped. A power of two, and more than the buffers that a busy client keeps in flight on one instance. */
    private static final int SLOTS = 64;

    private static final int MAX_RANK = 16;

    private final Engine engine;
    private final MemorySegment memory;
    private final MemorySegment out;
    private final MemorySegment dims;
    private final MemorySegment[] values = new MemorySegment[SLOTS];
    private final long[] addresses = new long[SLOTS];
    private final Shape[] shapes = new Shape[SLOTS];
    private final Datatype[] datatypes = new Datatype[SLOTS];

    /** @param memory the engine's description of the memory that the tensors lie in */
    ValueCache(Engine engine, MemorySegment memory, Arena arena) {
        this.engine = engine;
        this.memory = memory;
        this.out = arena.allocate(ValueLayout.ADDRESS);
        this.dims = arena.allocate(ValueLayout.JAVA_LONG, MAX_RANK);
    }

    /**
     * The value for a tensor of fixed-size elements, whose {@code byteSize} bytes begin at {@code address}. Valid until
     * the next call. Throws {@link gatun.bindings.NativeException} when the engine refuses the shape.
     */
    MemorySegment value(long address, long byteSize, Datatype datatype, Shape shape) {
        // Multiplicative hashing: addresses of one pool differ in few bits only.
        int slot = (int) ((address * 0x9E3779B97F4A7C15L) >>> 58) & (SLOTS - 1);
        MemorySegment kept = values[slot];
        if (kept != null) {
            if (addresses[slot] == address && datatypes[slot] == datatype && shape.equals(shapes[slot])) {
                return kept;
            }
            values[slot] = null;
            engine.release(kept);
        }
        int rank = shape.rank();
        Objects.checkIndex(rank, MAX_RANK + 1);
        for (int i = 0; i < rank; i++) {
            dims.setAtIndex(ValueLayout.JAVA_LONG, i, shape.dim(i));
        }
        engine.check(OrtApi.createTensorWithDataAsOrtValue(
                engine.api(),
                memory,
                MemorySegment.ofAddress(address),
                byteSize,
                dims,
                rank,
                ElementTypes.elementType(datatype),
                out));
        MemorySegment value = out.get(ValueLayout.ADDRESS, 0);
        LiveHandles.valueCreated();
        values[slot] = value;
        addresses[slot] = address;
        shapes[slot] = shape;
        datatypes[slot] = datatype;
        return value;
    }

    @Override
    public void close() {
        for (int i = 0; i < SLOTS; i++) {
            if (values[i] != null) {
                engine.release(values[i]);
                values[i] = null;
            }
        }
    }
}
