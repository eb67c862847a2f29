// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.NativeMemory;
import gatun.bindings.tensorflow.TF_Deallocator;
import gatun.bindings.tensorflow.tensorflow_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.tensorflow.TensorProto;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Makes and reads {@code TF_Tensor}s of fixed-size elements. */
final class Tensors {
    /** For memory that is not the engine's: frees nothing, but there must be something to call. */
    private static final MemorySegment NOTHING_TO_FREE =
            TF_Deallocator.allocate((data, length, argument) -> {}, Arena.global());

    private static final int MAX_RANK = 254;

    private Tensors() {}

    /** A tensor that shows bytes in place (copied off a 64-byte boundary) until the caller deletes it. */
    static MemorySegment around(Tensor tensor, MemorySegment dims) {
        return around(tensor.spec(), tensor.bytes(), NOTHING_TO_FREE, MemorySegment.NULL, dims);
    }

    /** A tensor that shows {@code elements}, deleted by the caller; {@code deallocator} runs after the last use. */
    static MemorySegment around(
            TensorSpec spec,
            MemorySegment elements,
            MemorySegment deallocator,
            MemorySegment argument,
            MemorySegment dims) {
        MemorySegment made = tensorflow_h.TF_NewTensor(
                ElementTypes.elementType(spec.datatype()),
                dims(spec.shape(), dims),
                spec.shape().rank(),
                elements,
                elements.byteSize(),
                deallocator,
                argument);
        return made(made, spec);
    }

    /** A tensor with a copy of {@code bytes}; the caller deletes it. */
    static MemorySegment copied(Tensor tensor, MemorySegment dims) {
        MemorySegment bytes = tensor.bytes();
        MemorySegment made = allocated(tensor.spec(), bytes.byteSize(), dims);
        MemorySegment.copy(bytes, 0, data(made, bytes.byteSize()), 0, bytes.byteSize());
        return made;
    }

    /** The tensor of a message; the caller deletes it. Throws INVALID_ARGUMENT for another datatype than the spec's. */
    static MemorySegment of(TensorProto message, TensorSpec spec) {
        byte[] serialized = message.toByteArray();
        try (Arena scratch = Arena.ofConfined();
                Status status = new Status()) {
            MemorySegment bytes = scratch.allocate(Math.max(1, serialized.length));
            MemorySegment.copy(serialized, 0, bytes, ValueLayout.JAVA_BYTE, 0, serialized.length);
            MemorySegment buffer = scratch.allocate(3L * Long.BYTES, Long.BYTES);
            buffer.set(ValueLayout.ADDRESS, 0, bytes);
            buffer.set(ValueLayout.JAVA_LONG, Long.BYTES, serialized.length);
            MemorySegment tensor =
                    allocated(new TensorSpec(spec.name(), spec.datatype(), Shape.of(0)), 0, dims(scratch));
            tensorflow_h.TF_TensorFromProto(buffer, tensor, status.handle());
            try {
                status.check("the default of input '" + spec.name() + "'");
                if (datatype(tensor) != spec.datatype()) {
                    throw GatunException.invalidArgument("the default of input '" + spec.name() + "' is of type "
                            + message.getDtype() + "; expected that of the input, " + spec.datatype());
                }
                return tensor;
            } catch (RuntimeException | Error e) {
                delete(tensor);
                throw e;
            }
        }
    }

    /** A tensor whose memory is the engine's and still to be written; the caller deletes it. */
    static MemorySegment allocated(TensorSpec spec, long byteSize, MemorySegment dims) {
        return made(
                tensorflow_h.TF_AllocateTensor(
                        ElementTypes.elementType(spec.datatype()),
                        dims(spec.shape(), dims),
                        spec.shape().rank(),
                        byteSize),
                spec);
    }

    private static MemorySegment made(MemorySegment tensor, TensorSpec spec) {
        if (tensor.address() == 0) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "TensorFlow made no tensor for input '" + spec.name() + "' of shape " + spec.shape());
        }
        LiveTensors.made();
        return tensor;
    }

    static MemorySegment dims(Arena arena) {
        return arena.allocate(ValueLayout.JAVA_LONG, MAX_RANK);
    }

    private static MemorySegment dims(Shape shape, MemorySegment room) {
        if (shape.rank() > MAX_RANK) {
            throw GatunException.invalidArgument(
                    "a shape of " + shape.rank() + " dimensions, where TensorFlow takes at most " + MAX_RANK);
        }
        for (int i = 0; i < shape.rank(); i++) {
            room.setAtIndex(ValueLayout.JAVA_LONG, i, shape.dim(i));
        }
        return room;
    }

    static void delete(MemorySegment tensor) {
        tensorflow_h.TF_DeleteTensor(tensor);
        LiveTensors.freed();
    }

    /** TensorFlow's number of the elements' type. */
    static int elementType(MemorySegment tensor) {
        return tensorflow_h.TF_TensorType(tensor);
    }

    static Datatype datatype(MemorySegment tensor) {
        return ElementTypes.datatype(elementType(tensor));
    }

    static Shape shape(MemorySegment tensor) {
        long[] dims = new long[tensorflow_h.TF_NumDims(tensor)];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = tensorflow_h.TF_Dim(tensor, i);
        }
        return Shape.of(dims);
    }

    /** The tensor's memory, valid until it is deleted. */
    static MemorySegment data(MemorySegment tensor, long byteSize) {
        return NativeMemory.segment(tensorflow_h.TF_TensorData(tensor).address(), byteSize);
    }
}
