// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.NativeMemory;
import gatun.bindings.Torch.TorchReads;
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
    private final LiveTensors live = new LiveTensors();

    /** @param arena where arguments go; usable from any thread, and open as long as this is used */
    AtenTensors(Arena arena) {
        sizes = arguments(arena, ValueLayout.JAVA_LONG, MAX_RANK);
        strides = arguments(arena, ValueLayout.JAVA_LONG, MAX_RANK);
        handle = arguments(arena, ValueLayout.ADDRESS, 1);
        number = arguments(arena, ValueLayout.JAVA_LONG, 1);
    }

    /** Zeroed memory for native arguments, exempt from the arena's atomic session counts. */
    static MemorySegment arguments(Arena arena, ValueLayout element, long count) {
        MemorySegment memory = arena.allocate(element, count);
        return NativeMemory.segment(memory.address(), memory.byteSize());
    }

    LiveTensors live() {
        return live;
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
                        MemorySegment.ofAddress(bytes.address()),
                        rank,
                        sizes,
                        strides,
                        0,
                        ElementTypes.number(datatype),
                        CPU,
                        0,
                        handle),
                "make a tensor");
        live.made(1);
        return handle.get(ValueLayout.ADDRESS, 0);
    }

    void delete(MemorySegment tensor) {
        torch_h.aoti_torch_delete_tensor_object(tensor);
        live.freed(1);
    }

    Datatype datatype(MemorySegment tensor) {
        check(torch_h.aoti_torch_get_dtype(tensor, number), "read a tensor");
        return ElementTypes.datatype(number.get(ValueLayout.JAVA_INT, 0));
    }

    Shape shape(MemorySegment tensor) {
        check(torch_h.aoti_torch_get_dim(tensor, number), "read a tensor");
        return Shape.of(dimensions(tensor, number.get(ValueLayout.JAVA_LONG, 0)).toArray(ValueLayout.JAVA_LONG));
    }

    boolean hasDimensions(MemorySegment tensor, Shape shape) {
        MemorySegment own = dimensions(tensor, shape.rank());
        for (int i = 0; i < shape.rank(); i++) {
            if (own.getAtIndex(ValueLayout.JAVA_LONG, i) != shape.dim(i)) {
                return false;
            }
        }
        return true;
    }

    private MemorySegment dimensions(MemorySegment tensor, long rank) {
        check(TorchReads.sizes(tensor, handle), "read a tensor");
        return NativeMemory.segment(handle.get(ValueLayout.ADDRESS, 0).address(), rank * Long.BYTES);
    }

    /** Copies the elements of a tensor of this datatype and shape to {@code target}, one after the other. */
    void copy(MemorySegment tensor, Datatype datatype, Shape shape, MemorySegment target) {
        if (target.byteSize() == 0) {
            return;
        }
        if (isContiguous(tensor, shape)) {
            check(TorchReads.data(tensor, handle), "read a tensor");
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
        check(TorchReads.strides(tensor, handle), "read a tensor");
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
