// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Which objects other processes hold. Stateless; takes milliseconds for each hundred processes, so it is nothing for
 * requests.
 */
final class OpenObjects {
    private static final Path PROCESSES = Path.of("/proc");
    private static final String MEMFD_LINK = "/memfd:";

    private OpenObjects() {}

    /**
     * Whether a process other than this one has the memfd open or mapped. Processes that this one may not look into do
     * not count: neither could they have registered an object of their own, which takes the same right.
     */
    static boolean isHeldElsewhere(ObjectIdentity object) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[1-9]*")) {
            Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            Path self = Path.of("/proc/self").toRealPath();
            for (Path process : processes) {
                if (!process.equals(self) && isOf(process, user) && holds(process, object)) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
            return true;
        }
    }

    private static boolean isOf(Path process, Object user) throws IOException {
        try {
            return Files.getAttribute(process, "unix:uid").equals(user);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static boolean holds(Path process, ObjectIdentity object) {
        try {
            return hasOpen(process, object) || hasMapped(process, object);
        } catch (AccessDeniedException e) {
            return false;
        } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
            return Files.exists(process);
        }
    }

    private static boolean hasOpen(Path process, ObjectIdentity object) throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (isMemfd(descriptor)
                        && Files.getAttribute(descriptor, "unix:ino").equals(object.inode())
                        && Files.getAttribute(descriptor, "unix:dev").equals(object.device())) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean isMemfd(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith(MEMFD_LINK);
        } catch (NoSuchFileException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private static boolean hasMapped(Path process, ObjectIdentity object) throws IOException {
        // All memfds are on the same device; other objects with the same inode number have other names.
        String inode = " " + object.inode() + " ";
        try (Stream<String> mappings = Files.lines(process.resolve("maps"), StandardCharsets.ISO_8859_1)) {
            return mappings.anyMatch(line -> line.contains(MEMFD_LINK) && line.contains(inode));
        }
    }
}
