// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;

/** Opens libraries that compute with OpenMP's threads, those of {@code libgomp}. */
final class OpenMp {
    private static final String RUNTIME = "libgomp.so.1";

    /** The variable that says what idle threads do. */
    private static final String WAIT_POLICY = "OMP_WAIT_POLICY";

    private OpenMp() {}

    /**
     * Opens the library at {@code path}. Its threads sleep when idle, unless the environment says otherwise: waiting
     * for work would cost the rest of the process. The variable is read once, when the first such library is opened.
     */
    static NativeLibrary open(String name, Path path, List<String> symbols) {
        try (Arena scratch = Arena.ofConfined()) {
            int status = posix_h.setenv(scratch.allocateFrom(WAIT_POLICY), scratch.allocateFrom("passive"), 0);
            assert status == 0 : "setenv refused a constant name";
        }
        NativeLibrary library = NativeLibrary.open(name, path, symbols);
        if (library instanceof NativeLibrary.Missing missing && missing.reason().contains(RUNTIME)) {
            return new NativeLibrary.Missing(
                    name,
                    missing.reason() + "; it needs GCC's OpenMP: Debian's and Ubuntu's package libgomp1, Red Hat's"
                            + " libgomp");
        }
        return library;
    }
}
