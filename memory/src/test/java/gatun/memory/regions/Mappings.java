// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The mappings and open files of this process, as the kernel lists them. */
public final class Mappings {
    private Mappings() {}

    /** Whether some mapping holds {@code address}. */
    public static boolean covers(long address) {
        for (String line : lines()) {
            int dash = line.indexOf('-');
            long start = Long.parseUnsignedLong(line.substring(0, dash), 16);
            long end = Long.parseUnsignedLong(line.substring(dash + 1, line.indexOf(' ')), 16);
            if (address >= start && address < end) {
                return true;
            }
        }
        return false;
    }

    /** How many mappings have {@code text} in their line, which names the mapped object. */
    public static long naming(String text) {
        return lines().stream().filter(line -> line.contains(text)).count();
    }

    /** How many descriptors of this process are open on an object whose name holds {@code text}. */
    public static long descriptorsNaming(String text) {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .filter(descriptor -> target(descriptor).contains(text))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            // Closed since it was listed.
            return "";
        }
    }

    private static List<String> lines() {
        try {
            return Files.readAllLines(Path.of("/proc/self/maps"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
