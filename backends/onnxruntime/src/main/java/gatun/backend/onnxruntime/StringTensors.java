// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.bindings.NativeMemory;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import gatun.spi.model.StringElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** BYTES tensors to the engine's strings and back, one copy each. Used by the instance's thread. */
final class StringTensors {

    private final Engine engine;

    StringTensors(Engine engine) {
        this.engine = engine;
    }

    /** A string value of {@code tensor} in {@code shape}, released by the caller. Lengths are read once. */
    MemorySegment value(Tensor tensor, Shape shape) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            MemorySegment dims = scratch.allocateFrom(ValueLayout.JAVA_LONG, shape.toArray());
            engine.check(OrtApi.createTensorAsOrtValue(
                    engine.api(),
                    engine.allocator(),
                    dims,
                    shape.rank(),
                    onnxruntime_h.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING(),
                    out));
            MemorySegment value = out.get(ValueLayout.ADDRESS, 0);
            LiveHandles.valueCreated();
            try {
                StringElements.read(tensor, (index, bytes, at, length) -> {
                    engine.check(OrtApi.getResizedStringTensorElementBuffer(engine.api(), value, index, length, out));
                    MemorySegment element =
                            NativeMemory.segment(out.get(ValueLayout.ADDRESS, 0).address(), length);
                    MemorySegment.copy(bytes, at, element, 0, length);
                });
                return value;
            } catch (RuntimeException | Error e) {
                engine.release(value);
                throw e;
            }
        }
    }

    void write(MemorySegment value, Shape shape, Execution execution, int index) {
        long count = shape.elementCount();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.JAVA_LONG);
            engine.check(OrtApi.getStringTensorDataLength(engine.api(), value, out));
            long total = out.get(ValueLayout.JAVA_LONG, 0);
            MemorySegment text = scratch.allocate(Math.max(1, total));
            MemorySegment offsets = scratch.allocate(ValueLayout.JAVA_LONG, Math.max(1, count));
            engine.check(OrtApi.getStringTensorContent(engine.api(), value, text, total, offsets, count));
            MemorySegment target = execution.output(
                    index, Datatype.BYTES, shape, Math.addExact(total, count * BytesCodec.LENGTH_BYTES));
            long at = 0;
            for (long i = 0; i < count; i++) {
                long from = offsets.getAtIndex(ValueLayout.JAVA_LONG, i);
                long to = i + 1 < count ? offsets.getAtIndex(ValueLayout.JAVA_LONG, i + 1) : total;
                target.set(ElementLayouts.INT32, at, (int) (to - from));
                at += BytesCodec.LENGTH_BYTES;
                MemorySegment.copy(text, from, target, at, to - from);
                at += to - from;
            }
        }
    }
}
