// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeMemory;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads the values that the engine allocated in a run. Safe for any thread. */
final class OutputValues {
    private final Engine engine;

    OutputValues(Engine engine) {
        this.engine = engine;
    }

    Shape shape(MemorySegment value) {
        MemorySegment api = engine.api();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.getTensorTypeAndShape(api, value, out));
            MemorySegment info = out.get(ValueLayout.ADDRESS, 0);
            try {
                engine.check(OrtApi.getDimensionsCount(api, info, out));
                int rank = Math.toIntExact(out.get(ValueLayout.JAVA_LONG, 0));
                MemorySegment dims = scratch.allocate(ValueLayout.JAVA_LONG, Math.max(1, rank));
                engine.check(OrtApi.getDimensions(api, info, dims, rank));
                return Shape.of(dims.asSlice(0, (long) rank * Long.BYTES).toArray(ValueLayout.JAVA_LONG));
            } finally {
                OrtApi.releaseTensorTypeAndShapeInfo(api, info);
            }
        }
    }

    /** The {@code byteSize} bytes of a tensor in system memory; valid as long as the value is. */
    MemorySegment data(MemorySegment value, long byteSize) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.getTensorMutableData(engine.api(), value, out));
            return NativeMemory.segment(out.get(ValueLayout.ADDRESS, 0).address(), byteSize);
        }
    }
}
