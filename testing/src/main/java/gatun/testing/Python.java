// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Finds the Python that tests run, by the script {@code testing/python}, by which benchmarks find theirs, too. */
public final class Python {
    private static final Path FINDER = Path.of("testing", "python");

    private Python() {}

    /**
     * The path of a Python that has these modules. Where there is none, the calling test is skipped, which fails a run
     * of all tests.
     */
    public static String with(String... modules) {
        List<String> command = new ArrayList<>(List.of(finder().toString()));
        command.addAll(List.of(modules));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
            Assumptions.assumeTrue(process.waitFor() == 0, said);
            return said;
        } catch (IOException e) {
            throw new AssertionError("the script that finds Python does not run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while looking for Python", e);
        }
    }

    /** The script, from wherever within the project the tests run. */
    private static Path finder() {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            Path finder = folder.resolve(FINDER);
            if (Files.isExecutable(finder)) {
                return finder;
            }
        }
        throw new AssertionError("no folder above this one has " + FINDER);
    }
}
