// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.torch.torch_h;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * PyTorch's functions that read a field of a tensor. They take nanoseconds, wait for nothing and never call back, so that
 * the JVM need not be told that the thread is outside of it, which takes longer than they do. Each puts what it finds to
 * {@code out}, of eight bytes, and gives 0, or another number where {@code tensor} is none. Usable from any thread once
 * {@link Torch} is open.
 */
public final class TorchReads {
    private static final MethodHandle DATA =
            function(torch_h.aoti_torch_get_data_ptr$address(), torch_h.aoti_torch_get_data_ptr$descriptor());
    private static final MethodHandle SIZES =
            function(torch_h.aoti_torch_get_sizes$address(), torch_h.aoti_torch_get_sizes$descriptor());
    private static final MethodHandle STRIDES =
            function(torch_h.aoti_torch_get_strides$address(), torch_h.aoti_torch_get_strides$descriptor());

    private TorchReads() {}

    @SuppressWarnings("restricted")
    private static MethodHandle function(MemorySegment address, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(address, type, Linker.Option.critical(false));
    }

    /** The address of the tensor's elements. */
    public static int data(MemorySegment tensor, MemorySegment out) {
        try {
            return (int) DATA.invokeExact(tensor, out);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** The address of its dimensions, as many 64-bit numbers as it has; valid as long as the tensor. */
    public static int sizes(MemorySegment tensor, MemorySegment out) {
        try {
            return (int) SIZES.invokeExact(tensor, out);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** The address of how far its elements lie from each other in each dimension, likewise. */
    public static int strides(MemorySegment tensor, MemorySegment out) {
        try {
            return (int) STRIDES.invokeExact(tensor, out);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }
}
