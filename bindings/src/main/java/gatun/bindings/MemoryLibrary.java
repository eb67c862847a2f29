// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Owns a library that was loaded from a file without a name, and is unloaded with it: for libraries that are models. Its
 * functions may be called until it is closed. Safe for any thread; closed once, after the last call.
 */
public final class MemoryLibrary implements AutoCloseable {
    private static final String FOLDER = "/proc/self/fd/";

    private final Descriptor file;
    private final MemorySegment handle;

    private MemoryLibrary(Descriptor file, MemorySegment handle) {
        this.file = file;
        this.handle = handle;
    }

    /**
     * Loads the library that {@code file} holds, with all functions that it needs of others.
     *
     * @param file as from {@link Posix#memfdCreate}; owned by the result. Stays with the caller when this fails
     * @throws LibraryException with the text of the system's loader, such as {@code undefined symbol: malloc2}
     */
    public static MemoryLibrary load(Descriptor file) {
        // All under numbers that are taken, so that the next gets another.
        List<Descriptor> tried = new ArrayList<>();
        Descriptor named = file;
        try {
            // The loader knows libraries by their paths, also those that it could not unload, whose descriptor's number
            // another file may have by now.
            while (isTaken(path(named))) {
                tried.add(named);
                named = Posix.open(path(file), Posix.O_RDONLY | Posix.O_CLOEXEC);
            }
            MemoryLibrary library = new MemoryLibrary(named, open(path(named)));
            tried.forEach(Descriptor::close);
            return library;
        } catch (RuntimeException | Error e) {
            tried.add(named);
            tried.stream().filter(other -> other != file).forEach(Descriptor::close);
            throw e;
        }
    }

    private static MemorySegment open(String path) {
        try (Arena scratch = Arena.ofConfined()) {
            // Asked before for what it is of no use: the JVM looks the function up then, which would take the text
            // away.
            posix_h.dlerror();
            MemorySegment handle = posix_h.dlopen(scratch.allocateFrom(path), posix_h.RTLD_NOW());
            if (handle.address() == 0) {
                MemorySegment said = posix_h.dlerror();
                throw new LibraryException(
                        said.address() == 0
                                ? "the system's loader does not say why"
                                : NativeMemory.string(said).replace(path + ": ", ""));
            }
            return handle;
        }
    }

    private static String path(Descriptor file) {
        return FOLDER + file.number();
    }

    private static boolean isTaken(String path) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment handle =
                    posix_h.dlopen(scratch.allocateFrom(path), posix_h.RTLD_NOW() | posix_h.RTLD_NOLOAD());
            if (handle.address() == 0) {
                return false;
            }
            posix_h.dlclose(handle);
            return true;
        }
    }

    /** Where the library has {@code symbol}; empty when it has none of that name. */
    public Optional<MemorySegment> find(String symbol) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment address = posix_h.dlsym(handle, scratch.allocateFrom(symbol));
            return address.address() == 0 ? Optional.empty() : Optional.of(address);
        }
    }

    @Override
    public void close() {
        posix_h.dlclose(handle);
        file.close();
    }

    /** A library cannot be loaded. */
    public static final class LibraryException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private LibraryException(String said) {
            super(said);
        }

        /** What the system's loader said. */
        public String said() {
            return String.valueOf(getMessage());
        }
    }
}
