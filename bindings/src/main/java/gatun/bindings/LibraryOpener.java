// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.Dl_info;
import gatun.bindings.posix.posix_h;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Opens native libraries, the only class that does. */
final class LibraryOpener {
    /** The file of each name: the generated bindings search all loaded files, so there is one each. */
    private static final ConcurrentMap<String, Path> OPENED = new ConcurrentHashMap<>();

    private LibraryOpener() {}

    static NativeLibrary openFile(String name, Path path, List<String> symbols) {
        return claim(name, path, symbols, true);
    }

    private static NativeLibrary claim(String name, Path path, List<String> symbols, boolean mayCopy) {
        if (!Files.isRegularFile(path)) {
            return new NativeLibrary.Missing(name, "there is no file " + path);
        }
        Path claimed = OPENED.putIfAbsent(name, path);
        if (claimed != null && !claimed.equals(path)) {
            return new NativeLibrary.Missing(
                    name, "this process already uses " + claimed + "; restart it to use " + path);
        }
        NativeLibrary library = load(name, path, symbols, mayCopy);
        if (library instanceof NativeLibrary.Missing) {
            OPENED.remove(name, path);
        }
        return library;
    }

    @SuppressWarnings("restricted")
    static NativeLibrary openInstalled(String name, String soname, List<String> symbols) {
        // Never closed once it is of use, see NativeLibrary.
        Arena lifetime = Arena.ofShared();
        SymbolLookup found;
        try {
            found = SymbolLookup.libraryLookup(soname, lifetime);
        } catch (IllegalArgumentException e) {
            lifetime.close();
            return new NativeLibrary.Missing(name, messageOf(e));
        }
        Optional<String> absent = firstAbsent(found, symbols);
        if (absent.isPresent()) {
            lifetime.close();
            return lacking(name, soname, absent.get());
        }
        // The bindings search files that System.load was told of, and that wants a path: ask the system's loader which
        // file it took.
        Path path = fileOf(found.find(symbols.getFirst()).orElseThrow()).orElse(Path.of(soname));
        // A driver's state is the machine's: it is never loaded twice.
        NativeLibrary library = claim(name, path, symbols, false);
        if (library instanceof NativeLibrary.Missing) {
            lifetime.close();
        }
        return library;
    }

    @SuppressWarnings("restricted")
    private static NativeLibrary load(String name, Path path, List<String> symbols, boolean mayCopy) {
        try {
            System.load(path.toString());
        } catch (UnsatisfiedLinkError e) {
            NativeLibrary missing = new NativeLibrary.Missing(name, messageOf(e));
            return mayCopy ? loadCopy(name, path, symbols).orElse(missing) : missing;
        }
        SymbolLookup found = SymbolLookup.libraryLookup(path, Arena.global());
        return firstAbsent(found, symbols)
                .map(symbol -> lacking(name, path.toString(), symbol))
                .orElseGet(() -> new NativeLibrary.Available(name, path, found));
    }

    /** Loads the library again by another name, since one class loader may have a file at a time. */
    private static Optional<NativeLibrary> loadCopy(String name, Path path, List<String> symbols) {
        try {
            Path copy = Files.createTempFile("gatun-", "-" + path.getFileName());
            try {
                Files.copy(path, copy, StandardCopyOption.REPLACE_EXISTING);
                return load(name, copy, symbols, false) instanceof NativeLibrary.Available loaded
                        ? Optional.of(new NativeLibrary.Available(name, path, loaded.symbols()))
                        : Optional.empty();
            } finally {
                // What is loaded stays.
                Files.delete(copy);
            }
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static NativeLibrary lacking(String name, String file, String symbol) {
        return new NativeLibrary.Missing(
                name, file + " has no " + symbol + ": it is another library, or a version that is too old");
    }

    private static Optional<String> firstAbsent(SymbolLookup library, List<String> symbols) {
        return symbols.stream().filter(symbol -> library.find(symbol).isEmpty()).findFirst();
    }

    private static Optional<Path> fileOf(MemorySegment symbol) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment info = Dl_info.allocate(scratch);
            if (posix_h.dladdr(symbol, info) == 0) {
                return Optional.empty();
            }
            return Optional.of(Path.of(NativeMemory.string(Dl_info.dli_fname(info))));
        }
    }

    private static String messageOf(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : message;
    }
}
