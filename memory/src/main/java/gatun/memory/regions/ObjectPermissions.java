// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.FileStatus;
import gatun.bindings.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The rights of a server on an object that another user owns. The system decides them for most servers. A server with
 * root's power over files could open every user's objects, in the name of any client: it may do only as much as the
 * object's mode lets everybody do. Stateless.
 */
final class ObjectPermissions {
    // Permission bits of everybody, as in C.
    private static final int READABLE = 04;
    private static final int WRITABLE = 02;

    /** Bits of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH in a process's capabilities. */
    private static final long POWER_OVER_FILES = 0b110;

    private static final String EFFECTIVE = "CapEff:";

    private ObjectPermissions() {}

    /** Whether the object may be read, once the system let it be opened. */
    static boolean mayRead(FileStatus object) {
        return may(object, READABLE);
    }

    /** Whether the object may be written, once the system let it be opened. */
    static boolean mayWrite(FileStatus object) {
        return may(object, WRITABLE);
    }

    private static boolean may(FileStatus object, int bit) {
        return object.uid() == Posix.effectiveUid() || (object.mode() & bit) != 0 || !Power.OVER_FILES;
    }

    /** Looked at once: capabilities are given to a process when it starts. */
    private static final class Power {
        static final boolean OVER_FILES = isOverFiles();

        private static boolean isOverFiles() {
            try {
                for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                    if (line.startsWith(EFFECTIVE)) {
                        String bits = line.substring(EFFECTIVE.length()).strip();
                        return (Long.parseUnsignedLong(bits, 16) & POWER_OVER_FILES) != 0;
                    }
                }
            } catch (IOException e) {
                // Without /proc there is only the user to go by.
            }
            return Posix.effectiveUid() == 0;
        }
    }
}
