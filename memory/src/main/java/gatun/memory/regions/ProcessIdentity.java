// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A process and no other that has its {@code pid} later; {@code startTicks} are the system's ticks since boot. */
record ProcessIdentity(long pid, long startTicks) {
    /** The place of the time in {@code /proc/<pid>/stat}, counted behind the name in parentheses. */
    private static final int START_FIELD = 20;

    /** States of a process that has ended and is only not yet collected by its parent. */
    private static final String DEAD_STATES = "ZX";

    /** The process that has that number now; empty when there is none. */
    static Optional<ProcessIdentity> of(long pid) {
        try {
            // The name may hold anything, parentheses and blanks too.
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).split(" ", -1);
            return DEAD_STATES.contains(fields[1])
                    ? Optional.empty()
                    : Optional.of(new ProcessIdentity(pid, Long.parseLong(fields[START_FIELD])));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether the process runs. Costs a read of a small file. */
    boolean isAlive() {
        return of(pid).filter(this::equals).isPresent();
    }
}
