// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The access log: a line for each request.
 *
 * @param file the file to append to; empty for standard output
 * @param json whether lines are JSON
 */
public record AccessLogSettings(Optional<Path> file, boolean json) {
    /** Checks that nothing is missing. */
    public AccessLogSettings {
        Objects.requireNonNull(file, "file");
    }
}
