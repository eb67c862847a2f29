// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import gatun.bindings.tensorflow.tensorflow_h;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** TensorFlow's C library. Usable from any thread once it is open; it lives as long as the process. */
public final class TensorFlow {
    /** The library's usual name. */
    public static final String NAME = "TensorFlow";

    private static final List<String> FUNCTIONS = List.of(
            "TF_Version",
            "TF_NewStatus",
            "TF_NewTensor",
            "TF_AllocateTensor",
            "TF_StringCopy",
            "TF_StringDealloc",
            "TF_SetConfig",
            "TF_GraphOperationByName",
            "TF_LoadSessionFromSavedModel",
            "TF_SessionRun");

    /** The folder that {@code ./gatun install tensorflow} makes in the user's cache. */
    private static final String FOLDER = "tensorflow";

    /** As Maven's artifact calls it, and as TensorFlow's own archive does. */
    private static final List<String> FILES = List.of("libtensorflow_cc.so.2", "libtensorflow.so.2");

    /** The variable that sets the library's log level: 0 prints everything, 3 only errors that end the process. */
    private static final String LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL";

    private TensorFlow() {}

    /** The library in a cache; empty when it was not installed: it is too large to come with the server. */
    public static Optional<Path> installed(LibraryCache cache) {
        Path folder = cache.folder().resolve(FOLDER);
        return FILES.stream().map(folder::resolve).filter(Files::isRegularFile).findFirst();
    }

    /**
     * Opens the library at {@code path}, which finds its other half beside it. It prints errors only, unless the
     * environment says otherwise: a client can cause warnings by any request.
     */
    public static NativeLibrary open(Path path) {
        try (Arena scratch = Arena.ofConfined()) {
            int status = posix_h.setenv(scratch.allocateFrom(LOG_LEVEL), scratch.allocateFrom("2"), 0);
            assert status == 0 : "setenv refused a constant name";
        }
        return NativeLibrary.open(NAME, path, FUNCTIONS);
    }

    /** The version of the library, which is open, such as {@code 2.18.0}. */
    public static String version() {
        return NativeMemory.string(tensorflow_h.TF_Version());
    }
}
