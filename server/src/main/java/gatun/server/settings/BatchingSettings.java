// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * TensorFlow Serving's batching, for models whose own configuration does not set any.
 *
 * @param file the parameters, in protobuf's text format; empty for the defaults
 * @param eachVersion whether versions bring parameters of their own
 */
public record BatchingSettings(Optional<Path> file, boolean eachVersion) {
    /** Checks that nothing is missing. */
    public BatchingSettings {
        Objects.requireNonNull(file, "file");
    }
}
