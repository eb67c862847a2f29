// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The Python that tests run. */
final class TestPython {
    private static final String SYSTEM = "/usr/bin/python3";

    private TestPython() {}

    /** The system's Python where it has numpy, else that of the PATH. */
    static String executable() {
        return hasNumpy() ? SYSTEM : "python3";
    }

    private static boolean hasNumpy() {
        try {
            Process process = new ProcessBuilder(SYSTEM, "-c", "import numpy")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false; // there is none
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
