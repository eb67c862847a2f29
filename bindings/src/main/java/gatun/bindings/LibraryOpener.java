// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.Dl_info;
import gatun.bindings.posix.posix_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Opens native libraries, the only class that does. */
final class LibraryOpener {
    /**
     * Which file each name stands for. The generated bindings search all loaded files, so that there can be but one
     * each.
     */
    private static final ConcurrentMap<String, Path> OPENED = new ConcurrentHashMap<>();

    private LibraryOpener() {}

    static NativeLibrary openFile(String name, Path path, List<String> symbols) {
        if (!Files.isRegularFile(path)) {
            return new NativeLibrary.Missing(name, "there is no file " + path);
        }
        Path claimed = OPENED.putIfAbsent(name, path);
        if (claimed != null && !claimed.equals(path)) {
            return new NativeLibrary.Missing(
                    name, "this process already uses " + claimed + "; restart it to use " + path);
        }
        NativeLibrary library = load(name, path, symbols);
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
        NativeLibrary library = openFile(name, path, symbols);
        if (library instanceof NativeLibrary.Missing) {
            lifetime.close();
        }
        return library;
    }

    @SuppressWarnings("restricted")
    private static NativeLibrary load(String name, Path path, List<String> symbols) {
        try {
            System.load(path.toString());
        } catch (UnsatisfiedLinkError e) {
            return new NativeLibrary.Missing(name, messageOf(e));
        }
        SymbolLookup found = SymbolLookup.libraryLookup(path, Arena.global());
        return firstAbsent(found, symbols)
                .map(symbol -> lacking(name, path.toString(), symbol))
                .orElseGet(() -> new NativeLibrary.Available(name, path, found));
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
