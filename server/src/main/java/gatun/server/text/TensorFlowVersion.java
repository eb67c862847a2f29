// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import gatun.bindings.LibraryCache;
import gatun.bindings.NativeLibrary;
import gatun.bindings.TensorFlow;
import java.nio.file.Path;
import java.util.Optional;

/** The version of TensorFlow's library, which runs SavedModels. */
public final class TensorFlowVersion {
    private TensorFlowVersion() {}

    /** The version of the installed library, such as {@code 2.18.0}, or why there is none. Loads the library. */
    public static String text() {
        Optional<Path> installed = TensorFlow.installed(LibraryCache.ofUser());
        if (installed.isEmpty()) {
            return "not installed; './gatun install tensorflow' does it";
        }
        NativeLibrary library = TensorFlow.open(installed.get());
        return library instanceof NativeLibrary.Missing missing ? missing.reason() : TensorFlow.version();
    }
}
