// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;

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

    /** The variable that sets the library's log level: 0 prints everything, 3 only errors that end the process. */
    private static final String LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL";

    private TensorFlow() {}

    /**
     * Opens the library in the file {@code path}, for instance {@code libtensorflow_cc.so.2}, which finds its other
     * half beside it. It prints errors only, unless the environment says otherwise: a client can cause warnings by any
     * request.
     */
    public static NativeLibrary open(Path path) {
        try (Arena scratch = Arena.ofConfined()) {
            int status = posix_h.setenv(scratch.allocateFrom(LOG_LEVEL), scratch.allocateFrom("2"), 0);
            assert status == 0 : "setenv refused a constant name";
        }
        return NativeLibrary.open(NAME, path, FUNCTIONS);
    }
}
