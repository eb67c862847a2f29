// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.NativeMemory;
import gatun.bindings.torch.torch_h;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Makes and reads PyTorch's tensors. For one thread at a time. */
final class AtenTensors {
    /** More dimensions than models have. */
    private static final int MAX_RANK = 64;

    private static final int CPU = torch_h.aoti_torch_device_type_cpu();

    private final MemorySegment sizes;
    private final MemorySegment strides;
    private final MemorySegment handle;
    private final MemorySegment number;

    /** @param arena where arguments go; usable from any thread, and open as long as this is used */
    AtenTensors(Arena arena) {
        sizes = arena.allocate(ValueLayout.JAVA_LONG, MAX_RANK);
        strides = arena.allocate(ValueLayout.JAVA_LONG, MAX_RANK);
        handle = arena.allocate(ValueLayout.ADDRESS);
        number = arena.allocate(ValueLayout.JAVA_LONG);
    }

    /** A tensor that shows {@code bytes}, which must stay valid until it is deleted; the caller deletes it. */
    MemorySegment around(MemorySegment bytes, Datatype datatype, Shape shape) {
        int rank = shape.rank();
        if (rank > MAX_RANK) {
            throw GatunException.invalidArgument(
                    "a shape of " + rank + " dimensions, where at most " + MAX_RANK + " can be");
        }
        long stride = 1;
        for (int i = rank - 1; i >= 0; i--) {
            sizes.setAtIndex(ValueLayout.JAVA_LONG, i, shape.dim(i));
            strides.setAtIndex(ValueLayout.JAVA_LONG, i, stride);
            stride *= Math.max(1, shape.dim(i));
        }
        check(
                torch_h.aoti_torch_create_tensor_from_blob(
                        bytes, rank, sizes, strides, 0, ElementTypes.number(datatype), CPU, 0, handle),
                "make a tensor");
        LiveTensors.made(1);
        return handle.get(ValueLayout.ADDRESS, 0);
    }

    static void delete(MemorySegment tensor) {
        torch_h.aoti_torch_delete_tensor_object(tensor);
        LiveTensors.freed(1);
    }

    Datatype datatype(MemorySegment tensor) {
        check(torch_h.aoti_torch_get_dtype(tensor, number), "read a tensor");
        return ElementTypes.datatype(number.get(ValueLayout.JAVA_INT, 0));
    }

    Shape shape(MemorySegment tensor) {
        return shape(tensor, rank(tensor));
    }

    /** The shape of a tensor of {@code rank} dimensions. */
    Shape shape(MemorySegment tensor, int rank) {
        check(torch_h.aoti_torch_get_sizes(tensor, handle), "read a tensor");
        MemorySegment own =
                NativeMemory.segment(handle.get(ValueLayout.ADDRESS, 0).address(), (long) rank * Long.BYTES);
        return Shape.of(own.toArray(ValueLayout.JAVA_LONG));
    }

    int rank(MemorySegment tensor) {
        check(torch_h.aoti_torch_get_dim(tensor, number), "read a tensor");
        return (int) number.get(ValueLayout.JAVA_LONG, 0);
    }

    /** Copies the elements of a tensor of this datatype and shape to {@code target}, one after the other. */
    void copy(MemorySegment tensor, Datatype datatype, Shape shape, MemorySegment target) {
        if (shape.elementCount() == 0) {
            return;
        }
        if (isContiguous(tensor, shape)) {
            check(torch_h.aoti_torch_get_data_ptr(tensor, handle), "read a tensor");
            MemorySegment.copy(
                    NativeMemory.segment(handle.get(ValueLayout.ADDRESS, 0).address(), target.byteSize()),
                    0,
                    target,
                    0,
                    target.byteSize());
            return;
        }
        MemorySegment copy = around(target, datatype, shape);
        try {
            check(torch_h.aoti_torch_copy_(copy, tensor, 0), "copy a tensor");
        } finally {
            delete(copy);
        }
    }

    private boolean isContiguous(MemorySegment tensor, Shape shape) {
        check(torch_h.aoti_torch_get_strides(tensor, handle), "read a tensor");
        MemorySegment own =
                NativeMemory.segment(handle.get(ValueLayout.ADDRESS, 0).address(), (long) shape.rank() * Long.BYTES);
        long stride = 1;
        for (int i = shape.rank() - 1; i >= 0; i--) {
            if (shape.dim(i) != 1 && own.getAtIndex(ValueLayout.JAVA_LONG, i) != stride) {
                return false;
            }
            stride *= shape.dim(i);
        }
        return true;
    }

    private static void check(int returned, String what) {
        if (returned != 0) {
            throw new GatunException(ErrorCode.INTERNAL, "PyTorch could not " + what);
        }
    }
}
