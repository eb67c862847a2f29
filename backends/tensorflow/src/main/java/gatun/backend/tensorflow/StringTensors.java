// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.NativeMemory;
import gatun.bindings.tensorflow.TF_Deallocator;
import gatun.bindings.tensorflow.TF_TString;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Execution;
import gatun.spi.model.StringElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * BYTES tensors as the engine's string tensors, and back: objects of 24 bytes, with the text inside or elsewhere. Each
 * element is copied once each way. A model may keep a tensor, so its last user frees the strings, on any thread.
 */
final class StringTensors {
    private static final long ELEMENT_BYTES = TF_TString.sizeof();

    /** The function that the engine calls when nothing uses the elements of an input any more. */
    private static final MemorySegment FREE = TF_Deallocator.allocate(StringTensors::free, Arena.global());

    private StringTensors() {}

    /** A string tensor of {@code tensor}, deleted by the caller. Lengths are read once and checked. */
    static MemorySegment of(Tensor tensor, MemorySegment dims) {
        TensorSpec spec = tensor.spec();
        long count = spec.shape().elementCount();
        // The engine frees strings only of tensors that are all its own, so this one merely holds the memory.
        MemorySegment holder = Tensors.allocated(spec, count * ELEMENT_BYTES, dims);
        MemorySegment elements = Tensors.data(holder, count * ELEMENT_BYTES);
        // All of them before anything can fail: zeros are an empty string, which may be freed.
        elements.fill((byte) 0);
        try {
            StringElements.read(
                    tensor,
                    (index, bytes, at, length) ->
                            tensorflow_h.TF_StringCopy(element(elements, index), bytes.asSlice(at, length), length));
        } catch (RuntimeException | Error e) {
            free(elements, elements.byteSize(), holder);
            throw e;
        }
        return Tensors.around(spec, elements, FREE, holder, dims);
    }

    private static void free(MemorySegment data, long byteSize, MemorySegment holder) {
        MemorySegment elements = NativeMemory.segment(data.address(), byteSize);
        for (long i = 0; i < byteSize / ELEMENT_BYTES; i++) {
            tensorflow_h.TF_StringDealloc(element(elements, i));
        }
        Tensors.delete(holder);
    }

    static void write(MemorySegment tensor, Shape shape, Execution execution, int index) {
        long count = shape.elementCount();
        MemorySegment elements = Tensors.data(tensor, count * ELEMENT_BYTES);
        long total = 0;
        for (long i = 0; i < count; i++) {
            total += BytesCodec.LENGTH_BYTES + tensorflow_h.TF_StringGetSize(element(elements, i));
        }
        MemorySegment target = execution.output(index, Datatype.BYTES, shape, total);
        long at = 0;
        for (long i = 0; i < count; i++) {
            MemorySegment element = element(elements, i);
            long length = tensorflow_h.TF_StringGetSize(element);
            MemorySegment text = NativeMemory.segment(
                    tensorflow_h.TF_StringGetDataPointer(element).address(), length);
            at = BytesCodec.put(target, at, text, 0, length);
        }
    }

    private static MemorySegment element(MemorySegment elements, long index) {
        return elements.asSlice(index * ELEMENT_BYTES, ELEMENT_BYTES);
    }
}
