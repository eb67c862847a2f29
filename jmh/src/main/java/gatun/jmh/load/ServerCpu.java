// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the processor time that another process has used, from {@code /proc}; Linux only. */
final class ServerCpu {
    /** Clock ticks a second in {@code /proc/<pid>/stat}: 100 on every Linux that a JVM runs on (USER_HZ). */
    private static final long NANOS_PER_TICK = 10_000_000;

    private final Path stat;

    ServerCpu(long pid) {
        stat = Path.of("/proc", Long.toString(pid), "stat");
    }

    /** User and system time of all threads since the process began, in nanoseconds. */
    long nanos() {
        try {
            String line = Files.readString(stat);
            // The command in parentheses may hold blanks; the fields after it are fixed: utime is the 12th, stime the
            // 13th.
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * NANOS_PER_TICK;
        } catch (IOException e) {
            throw new UncheckedIOException("the server is gone: " + stat, e);
        }
    }
}
