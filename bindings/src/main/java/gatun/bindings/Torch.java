// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.torch.torch_h;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** PyTorch's library, for AOTInductor models, until the process ends. Usable from any thread once it is open. */
public final class Torch {
    /** The library's usual name. */
    public static final String NAME = "PyTorch";

    private static final List<String> FUNCTIONS = List.of(
            "aoti_torch_device_type_cpu",
            "aoti_torch_dtype_uint16",
            "aoti_torch_create_tensor_from_blob",
            "aoti_torch_delete_tensor_object",
            "aoti_torch_get_data_ptr",
            "aoti_torch_get_dim",
            "aoti_torch_get_dtype",
            "aoti_torch_get_sizes",
            "aoti_torch_get_strides",
            "aoti_torch_copy_");

    /** What {@code ./gatun install pytorch} makes in the user's cache. */
    private static final String FILE = "pytorch/libtorch_cpu.so";

    /** Lies beside it: some models ask for it by its name, which the system's loader knows once it is loaded. */
    private static final String WHOLE = "libtorch.so";

    /** {@code void at::set_num_threads(int)}, which has no other name. */
    private static final String SET_THREADS = "_ZN2at15set_num_threadsEi";

    private static final FunctionDescriptor SET_THREADS_TYPE = FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT);

    /** {@code int at::get_num_threads()}, likewise. */
    private static final String GET_THREADS = "_ZN2at15get_num_threadsEv";

    private static final FunctionDescriptor GET_THREADS_TYPE = FunctionDescriptor.of(ValueLayout.JAVA_INT);

    private Torch() {}

    /** The library in a cache; empty when it was not installed: it is too large to come with the server. */
    public static Optional<Path> installed(LibraryCache cache) {
        return Optional.of(cache.folder().resolve(FILE)).filter(Files::isRegularFile);
    }

    /** Opens the library in the file {@code path}, a {@code libtorch_cpu.so}, which finds what it needs beside it. */
    public static NativeLibrary open(Path path) {
        NativeLibrary library = OpenMp.open(NAME, path, FUNCTIONS);
        Path whole = path.resolveSibling(WHOLE);
        if (library instanceof NativeLibrary.Available && Files.isRegularFile(whole)) {
            NativeLibrary.open(NAME + " (" + WHOLE + ")", whole, List.of());
        }
        return library;
    }

    /**
     * Sets the number of threads of an operation in the whole process; a thread that has called the library, which is
     * open, keeps its number. Returns false when the library has no such setting.
     */
    public static boolean setThreads(int count) {
        Optional<MethodHandle> call = function(SET_THREADS, SET_THREADS_TYPE);
        if (call.isEmpty()) {
            return false;
        }
        try {
            call.get().invokeExact(count);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
        return true;
    }

    /** As {@link #setThreads}, for the calling thread; new threads get the number that was set last. */
    public static boolean setThreadsOfCaller(int count) {
        // The first call of a thread gives it the process's number, which would replace the one set before.
        return threads() > 0 && setThreads(count);
    }

    /** How many threads an operation may use that the calling thread asks for; 0 where the library does not tell. */
    static int threads() {
        Optional<MethodHandle> call = function(GET_THREADS, GET_THREADS_TYPE);
        if (call.isEmpty()) {
            return 0;
        }
        try {
            return (int) call.get().invokeExact();
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    @SuppressWarnings("restricted")
    private static Optional<MethodHandle> function(String symbol, FunctionDescriptor type) {
        return SymbolLookup.loaderLookup().find(symbol).map(address -> Linker.nativeLinker()
                .downcallHandle(address, type));
    }

    /**
     * PyTorch's functions that read a field of a tensor. They take nanoseconds, wait for nothing and never call back,
     * so that the JVM need not be told that the thread is outside of it, which takes longer than they do. Each puts
     * what it finds to {@code out}, of eight bytes, and gives 0, or another number where {@code tensor} is none. Usable
     * from any thread once {@link Torch} is open.
     */
    public static final class TorchReads {
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
}
