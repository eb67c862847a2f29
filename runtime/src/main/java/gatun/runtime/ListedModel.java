// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.wire.inference.ModelVersionPolicy;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * A model that is served because a list names it, from a directory of any name.
 *
 * @param name the model's name
 * @param directory where its versions are, one directory for each, and its configuration if it has one
 * @param platform its kind as the list names it; for information only
 * @param versions which versions are served; no choice for what the model's own configuration says, and without one the
 *     highest
 * @param labels names by which clients may ask for versions
 */
public record ListedModel(
        String name, Path directory, String platform, ModelVersionPolicy versions, Map<String, Long> labels) {
    /** Checks that nothing is missing, and copies the map. */
    public ListedModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(platform, "platform");
        Objects.requireNonNull(versions, "versions");
        labels = Map.copyOf(labels);
    }
}
