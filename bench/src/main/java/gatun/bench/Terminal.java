// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Where the process's streams go. */
final class Terminal {
    private static final Path ERROR_STREAM = Path.of("/proc/self/fd/2");

    private Terminal() {}

    /** Whether the error stream goes to a terminal, even where the output does not. */
    static boolean hasErrorStream() {
        try {
            String target = Files.readSymbolicLink(ERROR_STREAM).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            // Another system than Linux.
            return Optional.ofNullable(System.console())
                    .filter(Console::isTerminal)
                    .isPresent();
        }
    }
}
