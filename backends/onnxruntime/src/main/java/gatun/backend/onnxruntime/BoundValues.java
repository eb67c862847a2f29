// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeMemory;
import gatun.bindings.onnxruntime.OrtApi;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The outputs of a run with a binding, as the engine hands them out: values of its own, in an array of its own. Owns
 * both.
 */
final class BoundValues implements AutoCloseable {
    private final Engine engine;
    private final MemorySegment array;
    private final int count;

    /** @param array as GetBoundOutputValues gave it, with {@code count} values */
    BoundValues(Engine engine, MemorySegment array, int count) {
        this.engine = engine;
        this.array = NativeMemory.segment(array.address(), count * ValueLayout.ADDRESS.byteSize());
        this.count = count;
        for (int i = 0; i < count; i++) {
            LiveHandles.valueCreated();
        }
    }

    /** The value of the output that was bound as number {@code position}; valid until this is closed. */
    MemorySegment get(int position) {
        return array.getAtIndex(ValueLayout.ADDRESS, position);
    }

    @Override
    public void close() {
        for (int i = 0; i < count; i++) {
            engine.release(get(i));
        }
        engine.check(OrtApi.allocatorFree(engine.api(), engine.allocator(), array));
    }
}
