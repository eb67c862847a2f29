// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.lang.foreign.SymbolLookup;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A native library that was looked for: there, or not there and why. A library that is missing is a normal state of the
 * server, so opening never throws.
 *
 * <p>Libraries stay open until the process ends, since nobody can tell when the last native call has returned.
 */
public sealed interface NativeLibrary {
    /** The library's usual name, for instance {@code ONNX Runtime}. */
    String name();

    /**
     * The library is loaded and has all symbols asked for. The generated bindings find their functions in it.
     *
     * @param path the file it was loaded from
     * @param symbols finds its symbols
     */
    record Available(String name, Path path, SymbolLookup symbols) implements NativeLibrary {}

    /** The library cannot be used; {@code reason}, for the operator, names the file, and the remedy if known. */
    record Missing(String name, String reason) implements NativeLibrary {
        /** {@code CUDA not available: Cannot open library: libcuda.so.1}. */
        @Override
        public String toString() {
            return name + " not available: " + reason;
        }
    }

    /**
     * Opens the library in the file {@code path}. One process holds one library of each {@code name}: another file for
     * the same name is refused, the same one is answered again.
     */
    static NativeLibrary open(String name, Path path, List<String> symbols) {
        return LibraryOpener.openFile(name, path.toAbsolutePath().normalize(), symbols);
    }

    /**
     * Opens the library that the system's loader finds by {@code soname}.
     *
     * @param soname as in {@code libcuda.so.1}
     * @param symbols the functions that it must have; at least one
     */
    static NativeLibrary find(String name, String soname, List<String> symbols) {
        return LibraryOpener.openInstalled(name, soname, symbols);
    }

    /** Finds the libraries of our own C in {@code bindings/src/main/c}, if the build had a C compiler. */
    static final class OwnLibrary {
        private OwnLibrary() {}

        /** Where the library lies for the machine that this is, below this package. */
        static String file(String name) {
            return "native/linux-" + Machine.current().linuxName() + "/libgatun-" + name + ".so";
        }

        /** The library; null when this build has none for this machine. */
        static @Nullable URL resource(String name) {
            return OwnLibrary.class.getResource(file(name));
        }
    }
}
