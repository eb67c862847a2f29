// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of {@code gatun init}.
 *
 * @param model a model's file, or a SavedModel's folder
 * @param repository the model repository that gets it; made if it is not there
 * @param name the model's name there; empty for that of the file or folder
 * @param backendOptions options of backends, by backend and name
 */
public record LayoutSettings(
        Path model, Path repository, Optional<String> name, Map<String, Map<String, String>> backendOptions) {}
