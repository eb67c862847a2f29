// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** What a process uses, as the system tells it in {@code /proc}: see proc(5). */
final class ProcessUse {
    /** The unit of times there, on every architecture of Linux. */
    private static final double TICKS_PER_SECOND = 100;

    /** Counted from the one behind the program's name, which may have blanks: its state is the first. */
    private static final int USER_TICKS = 11;

    private static final int SYSTEM_TICKS = 12;
    private static final String RESIDENT = "VmRSS:";
    private static final long KIBIBYTE = 1024;

    private ProcessUse() {}

    /** Its resident memory; empty when it has ended. */
    static OptionalLong residentBytes(long pid) {
        try (var lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
            return lines.filter(line -> line.startsWith(RESIDENT))
                    .mapToLong(line -> KIBIBYTE * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst();
        } catch (IOException | UncheckedIOException e) {
            return OptionalLong.empty();
        }
    }

    /** The processor time that it has taken so far; empty when it has ended. */
    static OptionalDouble processorSeconds(long pid) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
            return OptionalDouble.of(
                    (Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS])) / TICKS_PER_SECOND);
        } catch (IOException e) {
            return OptionalDouble.empty();
        }
    }
}
