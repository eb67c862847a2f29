// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.LibraryCache;
import gatun.bindings.TensorFlow;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where TensorFlow's library is: too large to ship, it is installed into the user's cache. */
final class InstalledLibrary {
    private static final String COMMAND = "./gatun install tensorflow";

    private InstalledLibrary() {}

    /** The file {@code chosen}, or the installed library if empty. Throws UNAVAILABLE with what to do. */
    static Path path(String chosen, LibraryCache cache) {
        if (chosen.isEmpty()) {
            return TensorFlow.installed(cache)
                    .orElseThrow(() -> new GatunException(
                            ErrorCode.UNAVAILABLE,
                            "TensorFlow is not installed; install it with '" + COMMAND
                                    + "' (a download of 160 MB), or name its library with "
                                    + TensorFlowBackend.library("PATH")));
        }
        Path path = Path.of(chosen);
        if (!Files.isRegularFile(path)) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "TensorFlow not available: " + TensorFlowBackend.library(chosen) + " names no file");
        }
        return path;
    }
}
