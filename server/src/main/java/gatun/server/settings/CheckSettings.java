// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of {@code gatun check}.
 *
 * @param paths repositories, folders of single models, or loose models
 * @param models the models to look at; empty for all
 * @param configName the configurations that count instead of config.pbtxt; empty for none
 * @param autoComplete whether configurations are completed from the models' files
 * @param modelNamespacing whether models of several repositories may have the same name
 * @param backendOptions options of backends, by backend and name
 * @param backendDirectory a folder with more backends; empty for none
 */
public record CheckSettings(
        List<Path> paths,
        List<String> models,
        String configName,
        boolean autoComplete,
        boolean modelNamespacing,
        Map<String, Map<String, String>> backendOptions,
        Optional<Path> backendDirectory,
        boolean showConfigurations) {}
