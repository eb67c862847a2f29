// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The flags that the server has, by the reference that is made from them. */
final class Flags {
    private static final Path REFERENCE = Path.of("../docs/reference/flags.md");

    private Flags() {}

    /** Those of {@code arguments} that look like a flag and are none. */
    static List<String> unknown(List<String> arguments) {
        try {
            String reference = Files.readString(REFERENCE);
            return arguments.stream()
                    .filter(argument -> argument.startsWith("--"))
                    .map(argument -> argument.replaceFirst("=.*", ""))
                    .filter(flag -> !reference.matches("(?s).*" + flag + "[^a-z_-].*"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
