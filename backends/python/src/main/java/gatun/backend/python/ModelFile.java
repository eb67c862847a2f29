// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.workers.FrameWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** The Python file of a model version, in decimal, and the model's folder in its repository. */
record ModelFile(Path path, String version, Path folder) {
    private static final String STANDARD_NAME = "model.py";

    private static final Pattern WHOLE_CLASS =
            Pattern.compile("^class\\s+TritonPythonModel\\s*(\\(\\s*(object)?\\s*\\)\\s*)?:", Pattern.MULTILINE);

    /** @throws ConfigurationException when it is not there */
    static ModelFile of(ModelConfig config, Path versionDirectory) {
        String name = config.getDefaultModelFilename().isEmpty() ? STANDARD_NAME : config.getDefaultModelFilename();
        Path directory = versionDirectory.toAbsolutePath().normalize();
        Path file = directory.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw new ConfigurationException(
                    ConfigurationPath.MODEL,
                    "model '" + config.getName() + "' has no file " + name + " in " + directory,
                    "put the Python file there, or name it by default_model_filename");
        }
        return in(directory, file);
    }

    /** A file of the engine's own, for the version in {@code directory}. */
    static ModelFile builtIn(Path file, Path directory) {
        return in(directory, file);
    }

    private static ModelFile in(Path directory, Path file) {
        return new ModelFile(
                file,
                directory.getFileName().toString(),
                directory.resolve("..").normalize());
    }

    /** Whether the model may complete its configuration: asking costs a process. Imports may define it too. */
    boolean completes() {
        try {
            String text = Files.readString(path, StandardCharsets.ISO_8859_1);
            return text.contains("auto_complete_config")
                    || !WHOLE_CLASS.matcher(text).find();
        } catch (IOException e) {
            return true; // Python tells why it cannot be read.
        }
    }

    void write(FrameWriter frame, String model) {
        frame.text(model).text(version).text(folder.toString()).text(path.toString());
    }
}
