// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the names of a model's classes: line n names class n, an empty line names none. */
final class LabelFiles {
    /** The longest file, and the most lines: each becomes a string. */
    private static final long MAX_BYTE_SIZE = 4 << 20;

    private static final int MAX_LINES = 1 << 18;

    private LabelFiles() {}

    /** The lines of label files by output name, carriage returns included. Throws when a file cannot be read. */
    static Map<String, List<String>> read(ModelConfig config, Path modelDirectory) {
        Map<String, List<String>> labels = new HashMap<>();
        for (ModelOutput output : config.getOutputList()) {
            if (!output.getLabelFilename().isEmpty()) {
                ConfigurationPath path =
                        ConfigurationPath.of("output", output.getName()).then("label_filename");
                labels.put(output.getName(), path.locate(() -> read(output, modelDirectory)));
            }
        }
        return labels;
    }

    private static List<String> read(ModelOutput output, Path modelDirectory) {
        String fileName = output.getLabelFilename();
        Path file = modelDirectory.resolve(fileName).normalize();
        if (!file.startsWith(modelDirectory.normalize())) {
            throw GatunException.invalidArgument("label_filename '" + fileName + "' of output '" + output.getName()
                    + "' leads out of the model's directory");
        }
        try {
            String subject = "label file '" + fileName + "' of output '" + output.getName() + "' has ";
            require(subject, Files.size(file), MAX_BYTE_SIZE, " bytes");
            String text = Files.readString(file);
            require(subject, text.chars().filter(c -> c == '\n').count(), MAX_LINES, " lines");
            return Arrays.asList(text.split("\n", -1));
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read label file '" + fileName + "' of output '"
                    + output.getName() + "': " + IoFailure.reason(e));
        }
    }

    private static void require(String subject, long number, long limit, String unit) {
        if (number > limit) {
            throw GatunException.invalidArgument(subject + number + unit + ", expected at most " + limit);
        }
    }
}
