// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Finds the libraries of operators that a configuration names in {@code model_operations}. Stateless. */
public final class OperatorLibraries {
    private OperatorLibraries() {}

    /**
     * The libraries in the order of the configuration. A relative name is looked up in the model's folder and then, as
     * Triton does, in the folder that the server was started in.
     *
     * @param versionDirectory the folder of a version, in that of its model
     * @throws ConfigurationException for the first that is no file
     */
    public static List<Path> of(ModelConfig config, Path versionDirectory) {
        return config.getModelOperations().getOpLibraryFilenameList().stream()
                .map(name -> find(name, config.getName(), versionDirectory.toAbsolutePath()))
                .toList();
    }

    private static Path find(String name, String model, Path versionDirectory) {
        Path beside = versionDirectory.resolveSibling(name);
        Path started = Path.of(name).toAbsolutePath();
        return List.of(beside, started).stream()
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        ConfigurationPath.of("model_operations").then("op_library_filename"),
                        "'op_library_filename' of model '" + model + "' is '" + name + "', and there is no file "
                                + beside
                                + (beside.equals(started) ? "" : " nor " + started)
                                + "; expected a library of operators, by its absolute path or its name in the model's"
                                + " folder"));
    }
}
