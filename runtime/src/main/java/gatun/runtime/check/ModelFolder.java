// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ProtobufText;
import gatun.runtime.ServedPath;
import gatun.runtime.check.ModelReport.Problem;
import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.ConfigurationFile.ConfigurationSyntaxException;
import gatun.runtime.configuration.ConfigurationText;
import gatun.runtime.configuration.ConfigurationText.Position;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.spi.ConfigurationException;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A model's folder, and where in its configuration failures arise. Reads the file anew each time. */
final class ModelFolder {
    private final String name;
    private final Path folder;
    private final Path file;

    /** @param file its configuration, which need not exist */
    private ModelFolder(String name, Path folder, Path file) {
        this.name = name;
        this.folder = folder;
        this.file = file;
    }

    /** The folder of a model; a loose one itself. {@code configName} counts instead of config.pbtxt where it exists. */
    static ModelFolder of(ModelIdentifier identifier, List<ServedPath> paths, String configName) {
        String name = identifier.name();
        String namespace = identifier.namespace();
        List<Path> candidates = new ArrayList<>();
        for (ServedPath path : paths) {
            switch (path) {
                case ServedPath.Repository repository -> {
                    if (namespace.isEmpty()
                            || namespace.equals(repository.folder().toString())) {
                        candidates.add(repository.folder().resolve(name));
                    }
                }
                case ServedPath.ModelFolder model -> {
                    if (namespace.isEmpty() && model.name().equals(name)) {
                        // Of a model without a namespace that also lies in a repository, this is the folder.
                        candidates.addFirst(model.folder());
                    }
                }
                case ServedPath.LooseModel model -> {
                    if (namespace.isEmpty() && model.name().equals(name)) {
                        // There is no configuration in it, nor beside it.
                        return new ModelFolder(name, model.path(), model.path().resolve(ConfigurationFile.NAME));
                    }
                }
            }
        }
        Path folder = candidates.stream().filter(Files::isDirectory).findFirst().orElseGet(candidates::getFirst);
        return new ModelFolder(name, folder, ModelConfiguration.file(folder, configName));
    }

    /** The configuration as written, with the model's name; empty when there is none that can be read. */
    Optional<ModelConfig> written() {
        try {
            return Optional.of(
                    ConfigurationFile.read(file).toBuilder().setName(name).build());
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    /** The problems behind failed loads: of a broken rule, the other broken rules too, since loading stops at one. */
    List<Problem> problems(EngineCatalog engines, List<GatunException> failures) {
        Map<String, GatunException> all = new LinkedHashMap<>();
        failures.forEach(failure -> all.putIfAbsent(failure.getMessage(), failure));
        List<ConfigurationException> broken = written()
                .map(written -> ModelConfiguration.brokenRules(engines, written))
                .orElse(List.of());
        if (broken.stream().anyMatch(rule -> all.containsKey(rule.getMessage()))) {
            broken.forEach(rule -> all.putIfAbsent(rule.getMessage(), rule));
        }
        Optional<ConfigurationText> text = text();
        List<Problem> problems = new ArrayList<>();
        for (GatunException failure : all.values()) {
            switch (failure) {
                case ConfigurationSyntaxException syntax ->
                    syntax.mistakes()
                            .forEach(mistake -> problems.add(
                                    problem(Optional.of(mistake.position()), mistake.text(), mistake.advice())));
                case ConfigurationException mistake ->
                    problems.add(problem(
                            text.flatMap(places -> places.position(mistake.path())),
                            mistake.getMessage(),
                            mistake.advice()));
                default -> problems.add(problem(Optional.empty(), failure.getMessage(), ""));
            }
        }
        return problems;
    }

    private Problem problem(Optional<Position> position, String text, String advice) {
        return new Problem(position.isPresent() ? file : folder, position, text, advice);
    }

    private Optional<ConfigurationText> text() {
        try {
            return Optional.of(ConfigurationText.of(ProtobufText.read(file)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
