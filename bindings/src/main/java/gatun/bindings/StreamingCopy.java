// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import gatun.bindings.NativeLibrary.OwnLibrary;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.URL;
import java.util.List;
import java.util.Optional;

/**
 * Copies memory that is larger than the caches with stores that go past them, which takes about three quarters of the
 * time. The thread is in native code meanwhile, so that a collection of garbage need not wait for it.
 *
 * <p>The C function comes from {@code bindings/src/main/c} where a C compiler is at hand. Safe for any thread.
 */
public final class StreamingCopy {
    private static final String COPY = "gatun_copy_streaming";

    private final MethodHandle copy;

    private StreamingCopy(MethodHandle copy) {
        this.copy = copy;
    }

    /** Loads the library, unpacked into {@code cache}; empty where there is none for this machine. */
    public static Optional<StreamingCopy> open(LibraryCache cache) {
        URL resource = OwnLibrary.resource("copy");
        if (resource == null) {
            return Optional.empty();
        }
        try {
            return NativeLibrary.open("the streaming copy", cache.unpack(resource), List.of(COPY))
                            instanceof NativeLibrary.Available available
                    ? Optional.of(new StreamingCopy(downcall(available)))
                    : Optional.empty();
        } catch (UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /**
     * Copies all of {@code source} to the beginning of {@code target}. They must be native and not overlap.
     *
     * @throws IllegalArgumentException when the target is smaller, read-only, or one of them is on the heap
     */
    public void copy(MemorySegment source, MemorySegment target) {
        long byteSize = source.byteSize();
        if (byteSize > target.byteSize() || target.isReadOnly()) {
            throw new IllegalArgumentException("cannot copy " + byteSize + " bytes into " + target.byteSize()
                    + (target.isReadOnly() ? " that are read-only" : ""));
        }
        try {
            copy.invokeExact(target, source, byteSize);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle downcall(NativeLibrary.Available library) {
        // void gatun_copy_streaming(void *target, const void *source, size_t byte_size)
        return Linker.nativeLinker()
                .downcallHandle(
                        library.symbols().find(COPY).orElseThrow(),
                        FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG));
    }
}
