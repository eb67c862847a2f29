// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.NativeLibrary.OwnLibrary;
import gatun.bindings.words.WordFunctions;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.net.URL;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** The library that {@code bindings/src/main/c/fault_guard.c} becomes: loads it once and calls its four functions. */
final class GuardLibrary {
    private static final String NAME = "the fault guard";
    private static final String INSTALL = "gatun_guard_install";
    private static final String PROTECT = "gatun_guard_protect";
    private static final String RELEASE = "gatun_guard_release";
    private static final String CAPACITY = "gatun_guard_capacity";

    /** The result of the first installation; there is one handler for the process. */
    private static final AtomicReference<FaultGuard> ANSWER = new AtomicReference<>();

    private final MethodHandle protect;
    private final MethodHandle release;
    private final int capacity;

    private GuardLibrary(SymbolLookup symbols) {
        // _Atomic int *gatun_guard_protect(void *address, size_t byte_size, int protection)
        protect = WordFunctions.find(symbols, PROTECT, 3);
        // void gatun_guard_release(_Atomic int *handle)
        release = WordFunctions.find(symbols, RELEASE, 1);
        capacity = callInt(symbols, CAPACITY);
    }

    static FaultGuard install(LibraryCache cache) {
        FaultGuard response = ANSWER.get();
        if (response != null) {
            return response;
        }
        // Two threads may both come here: the C side installs once, and the file is the same.
        FaultGuard made = tryInstall(cache);
        FaultGuard first = ANSWER.compareAndExchange(null, made);
        return first == null ? made : first;
    }

    private static FaultGuard tryInstall(LibraryCache cache) {
        URL resource = OwnLibrary.resource("guard");
        if (resource == null) {
            return new FaultGuard.Absent("this build of Gatun has no " + OwnLibrary.file("guard")
                    + ": it was built without a C compiler, or for another machine; build it again with gcc installed");
        }
        NativeLibrary library;
        try {
            library = NativeLibrary.open(NAME, cache.unpack(resource), List.of(INSTALL, PROTECT, RELEASE, CAPACITY));
        } catch (UncheckedIOException e) {
            return new FaultGuard.Absent(String.valueOf(e.getMessage()));
        }
        return switch (library) {
            case NativeLibrary.Missing missing -> new FaultGuard.Absent(missing.reason());
            case NativeLibrary.Available available -> {
                // int gatun_guard_install(void)
                int error = callInt(available.symbols(), INSTALL);
                yield error == 0
                        ? new FaultGuard.Installed(new GuardLibrary(available.symbols()))
                        : new FaultGuard.Absent("sigaction failed: " + Posix.errorText(error));
            }
        };
    }

    int capacity() {
        return capacity;
    }

    Optional<RegionGuard> protect(long address, long byteSize, int protection) {
        try {
            MemorySegment flag = (MemorySegment) protect.invokeExact(
                    MemorySegment.ofAddress(address),
                    MemorySegment.ofAddress(byteSize),
                    MemorySegment.ofAddress(protection));
            return flag.address() == 0
                    ? Optional.empty()
                    : Optional.of(new RegionGuard(this, NativeMemory.segment(flag.address(), Integer.BYTES)));
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    void release(MemorySegment flag) {
        try {
            MemorySegment ignored = (MemorySegment) release.invokeExact(flag);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    private static int callInt(SymbolLookup symbols, String function) {
        try {
            return (int)
                    ((MemorySegment) WordFunctions.find(symbols, function, 0).invokeExact()).address();
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }
}
